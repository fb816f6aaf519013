/* SPDX-License-Identifier: MIT */
/*
 * Split DWARF (-gsplit-dwarf): units with only a skeleton in the linked file.
 *
 *     linked file      skeleton unit: dwo_id, dwo_name, comp_dir, low_pc, addr_base
 *                         │           .debug_line, .debug_addr
 *     NAME.dwo         split unit: the functions           .debug_info.dwo, .debug_abbrev.dwo, …
 *     or FILE.dwp      many units in one file              .debug_cu_index: the parts of each unit
 *
 * libdw 0.188 has no .dwp support, and opens a .dwo by name whatever the file is. So the sections
 * of a split unit, and the skeleton's part of .debug_addr, are gathered here into a Dwarf of their
 * own.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/intern.h"
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
    uint64_t base_svma;    /* the skeleton's low_pc, base of ranges */
    const uint8_t *ranges; /* version 4: the unit's part of the linked file's .debug_ranges */
    size_t ranges_bytes;
};

/* The context of searches for split units; borrowed. */
struct splits {
    const struct elf_handle *handle; /* with the skeletons, readable for libdw */
    /* The linked file's path is NULL for an ELF file in memory: no split units. Compilation
     * directories may lie below debug_directory. */
    struct split_package_places places;
    struct split_package package;
    struct intern *files; /* .dwo files read; NULL: none */
    uint64_t file_bytes;  /* of these files and of the package, each file once */
};

void splits_free(struct splits *splits);

/* Whether a unit's code is described elsewhere. */
bool split_is_skeleton(Dwarf_Die *unit);

/* Opens the split unit of a skeleton. NULL: missing or damaged. */
struct split *split_open(struct splits *splits, Dwarf_Die *skeleton);
void split_close(struct split *split);

/* Calls handle for each code range of a DIE of a split unit, up to the first error; returns the
 * error or 0. */
typedef int split_range_handler(void *context, uint64_t low, uint64_t high);
int split_ranges(const struct split *split, Dwarf_Die *die, split_range_handler *handle,
                 void *context);
