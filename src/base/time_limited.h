/* SPDX-License-Identifier: MIT */
/* A function with a time limit, for reads that may hang in the kernel. */
#pragma once

#include <stdint.h>

/* Runs the function in a forked process, so its effects stay there, except for shared memory and
 * files. Returns the result of the function, 0 or a negative errno; -ETIMEDOUT: the process was
 * killed, or abandoned if it hangs uninterruptibly; -ECANCELED: the process crashed. */
int time_limited_run(int (*function)(void *context), void *context, uint64_t limit_ns);
