/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Whether a name is a placeholder for a function without a symbol: the module and the offset of
 * the function in the module, "libfoo.so.1+0x1234". */
bool name_is_placeholder(const char *name);
