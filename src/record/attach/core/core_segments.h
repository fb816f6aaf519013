/* SPDX-License-Identifier: MIT */
/* The memory in a core file, found by address. A core has up to 65 535 segments, and as many
 * look-ups as threads and mappings: so the segments are sorted. */
#pragma once

#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_segments {
    struct elf_segment *items; /* PT_LOAD, by svma; owned */
    size_t count;
};

/* To be freed by core_segments_free(). 0 or -ENOMEM. */
int core_segments_open(struct core_segments *segments, const struct elf_file *core);
void core_segments_free(struct core_segments *segments);

/* The segment with this address in its memory; NULL: none. */
const struct elf_segment *core_segments_find(const struct core_segments *segments, uint64_t avma);

/* Reads [avma, avma + size) out of the file. False: not in the file. */
bool core_segments_read(const struct core_segments *segments, int fd, uint64_t avma, void *out,
                        size_t size);
