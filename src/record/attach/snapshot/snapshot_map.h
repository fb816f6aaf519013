/* SPDX-License-Identifier: MIT */
/* The map of a process at one time, from /proc/PID/maps. */
#pragma once

#include "record/perf_ring/ring_modules.h"

/* To be released by process_map_release(). 0, or the negative errno of the read: -ESRCH without
 * memory, -EACCES without the right to trace the process. */
int snapshot_map_read(struct process_map **map, struct ring_modules *modules, pid_t pid,
                      const struct rights *rights);
