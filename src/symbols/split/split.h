/* SPDX-License-Identifier: MIT */
/*
 * Split DWARF (-gsplit-dwarf): a unit of which the linked file has a skeleton only.
 *
 *     linked file      skeleton unit: dwo_id, dwo_name, comp_dir, low_pc, addr_base   .debug_line .debug_addr
 *                         │
 *     NAME.dwo         split unit: the functions           .debug_info.dwo, .debug_abbrev.dwo, …
 *     or FILE.dwp      many of those, in one file           .debug_cu_index says what is whose
 *
 * libdw 0.188 knows no .dwp, and opens a .dwo by name whatever lies there. So the sections of a split
 * unit are gathered here, together with the skeleton's part of .debug_addr, into a Dwarf of its own.
 */
#pragma once

#include "base/containers/buffer.h"
#include "symbols/files/elf_handle.h"
#include "symbols/split/split_package.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct split {
    struct buffer sections[SPLIT_SECTIONS];
    struct elf_handle handle;
    Dwarf *dwarf;
    Dwarf_Die die;         /* of the unit */
    uint64_t base_svma;    /* the skeleton's low_pc: what ranges are relative to */
    const uint8_t *ranges; /* version 4: the unit's part of the linked file's .debug_ranges */
    size_t ranges_bytes;
};

/* What is needed to find split units; borrowed for as long as they are looked for. */
struct splits {
    const struct elf_handle *handle; /* that holds the skeletons, readable for libdw */
    /* The linked file's path is NULL for an image in memory: no split units. Compilation directories
     * may lie below debug_directory. */
    struct split_package_places places;
    struct split_package package;
};

void splits_free(struct splits *splits);

/* Whether a unit's code is described elsewhere. */
bool split_is_skeleton(Dwarf_Die *unit);

/* Finds the split unit of a skeleton and opens it. NULL: it is not there, or it is damaged. */
struct split *split_open(struct splits *splits, Dwarf_Die *skeleton);
void split_close(struct split *split);

/* Calls handle for every code range of a DIE of a split unit, until it fails; its error, or 0. */
typedef int split_range_handler(void *context, uint64_t low, uint64_t high);
int split_ranges(const struct split *split, Dwarf_Die *die, split_range_handler *handle,
                 void *context);
