/* SPDX-License-Identifier: MIT */
/* The executable mappings of a core file, with the files on this machine. */
#pragma once

#include "record/attach/core/core_notes.h"
#include "record/attach/core/core_segments.h"
#include "record/perf_ring/ring_modules.h"

struct core_memory {
    int fd;
    const struct core_segments *segments;
};

/* executable: path of the program, where the core's own does not lead to it; NULL: none. A file
 * with another build-id than the core's memory is not used. To be released by
 * process_map_release(). 0 or -ENOMEM. */
int core_map_read(struct process_map **map, struct ring_modules *modules,
                  const struct core_memory *memory, const struct core_notes *notes,
                  const char *executable);
