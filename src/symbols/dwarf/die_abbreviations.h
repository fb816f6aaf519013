/* SPDX-License-Identifier: MIT */
/*
 * Skipping DIEs of a unit: for each abbreviation the sizes of its attributes, neighbours of fixed
 * size merged.
 *
 *     attributes   name strp   decl_file data1   decl_line data1   location exprloc   sibling ref4
 *     steps        ├────────────── 6 bytes ────────────────────┤   exprloc            sibling ref4
 */
#pragma once

#include "base/containers/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct die_step {
    uint16_t form;   /* 0: just `bytes` */
    bool is_sibling; /* the offset of the next DIE on the same level */
    uint32_t bytes;
};

struct die_abbreviation {
    uint32_t tag; /* 0: there is no such code */
    bool has_children;
    bool has_code; /* low_pc or ranges among the attributes */
    uint32_t first_step, step_count;
};

struct die_abbreviations {
    struct die_abbreviation *by_code;
    size_t count, capacity;
    struct die_step *steps;
    size_t step_count, step_capacity;
    uint8_t address_bytes, offset_bytes;
    unsigned version;
};

/* The table at the cursor; malformed abbreviations are left out. The numbers are those of the unit.
 * NULL: out of memory. */
struct die_abbreviations *die_abbreviations_read(struct cursor table, unsigned version,
                                                 uint8_t address_bytes, uint8_t offset_bytes);
void die_abbreviations_free(struct die_abbreviations *abbreviations);

/* NULL: there is no such abbreviation. */
const struct die_abbreviation *die_abbreviation_find(const struct die_abbreviations *abbreviations,
                                                     uint64_t code);

/* Skips all attributes of a DIE. *sibling: offset of the sibling in the unit, 0 without
 * DW_AT_sibling. Malformed data fails the cursor. */
void die_abbreviation_skip(const struct die_abbreviations *abbreviations,
                           const struct die_abbreviation *abbreviation, struct cursor *c,
                           uint64_t *sibling);
