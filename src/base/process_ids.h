/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define PROCESS_NAMESPACES_MAX 33 /* as in the kernel */

/* Reads the ids of a process (or, with tid, of a thread) in nested pid namespaces, from our
 * namespace down to the innermost (NSpid in /proc/PID/status). Returns the number of ids, at
 * most `room`; 0: the process is gone, or the kernel does not provide NSpid. */
size_t process_ids(pid_t pid, pid_t tid, pid_t *ids, size_t room);
