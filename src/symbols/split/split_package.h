/* SPDX-License-Identifier: MIT */
/*
 * The .dwp of a linked file: the sections of many split units. The index, of version 2 (GNU) or 5:
 *
 *     u32 version (5: u16, and u16 of padding)  u32 columns  u32 units  u32 slots
 *     u64 signatures[slots]                hash table of dwo_ids
 *     u32 rows[slots]                      rows of these, counted from 1
 *     u32 section kinds[columns]
 *     u32 offsets[units][columns]
 *     u32 sizes[units][columns]
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdint.h>

enum split_section {
    SPLIT_INFO,
    SPLIT_ABBREV,
    SPLIT_LINE,
    SPLIT_STR,
    SPLIT_STR_OFFSETS,
    SPLIT_RNGLISTS,
    SPLIT_SECTIONS,
};

/* ".debug_info.dwo" and so on. */
extern const char *const split_section_names[SPLIT_SECTIONS];

/* Zeroed: not opened. Opened by the first read. */
struct split_package {
    struct elf_file *file; /* NULL: none */
    bool was_tried;
    uint64_t file_bytes;
    struct buffer index, strings;
};

/* Where to look for the .dwp: the first ELF file in the places of debug_path.h. */
struct split_package_places {
    const char *paths[2];        /* of the linked file and its debug file; NULL: none */
    const char *debug_directory; /* NULL: none */
};

/* Appends the sections of a unit to the empty buffers of `sections`. 0, -ENOENT, or the error of
 * elf_read_section_part(). */
int split_package_read(struct split_package *package, const struct split_package_places *places,
                       uint64_t dwo_id, struct buffer sections[SPLIT_SECTIONS]);
void split_package_free(struct split_package *package);
