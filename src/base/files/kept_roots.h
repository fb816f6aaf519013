/* SPDX-License-Identifier: MIT */
/*
 * Root directories of other processes, held open. A process confined by Landlock cannot open
 * /proc/PID/root of processes outside of its domain, and perf maps of containers lie below.
 */
#pragma once

#include "base/files/rights.h"

#include <sys/types.h>

/* Holds the root directory of the process, found with these rights; nothing if the root is this
 * process' own, or cannot be opened. Not thread-safe. */
void kept_roots_hold(pid_t pid, const struct rights *rights);

/* A descriptor (O_PATH) of the root directory, borrowed; -1: not held. */
int kept_roots_find(pid_t pid);
