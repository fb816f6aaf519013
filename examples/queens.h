/* SPDX-License-Identifier: MIT */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* In how many ways `size` queens stand on a board without threatening each other; size < 32. */
unsigned long queens_solutions(unsigned size);

#ifdef __cplusplus
}
#endif
