/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define PROCESS_NAMESPACES_MAX 33 /* as in the kernel */

/* What ids a process (or, with tid, one of its threads) has: in our pid namespace, in the one below, down to its own.
 * Returns how many, at most `room`; 0: it is gone, or the kernel does not tell. */
size_t process_ids(pid_t pid, pid_t tid, pid_t *ids, size_t room);
