/* SPDX-License-Identifier: MIT */
/*
 * Which compilation unit holds an address. .debug_aranges says so for the units that have an entry
 * there (gcc writes it, clang and rustc do not); all others are asked for the ranges of their own
 * DIE, once, when an address is in none of the former.
 */
#pragma once

#include "symbols/dwarf/unit.h"

struct units {
    Dwarf *dwarf;
    struct splits *splits; /* borrowed */
    struct unit *units;
    size_t count, capacity;
    struct spans spans; /* value: index in units */
    bool is_complete;   /* the units without aranges are in it too */
    bool is_damaged;    /* there are none, not all of them can be found, or one that was read is */
};

int units_init(struct units *units, Dwarf *dwarf, struct splits *splits);
void units_free(struct units *units);

/* Where their line tables begin, ascending, owned by the caller; NULL: out of memory. */
uint64_t *units_line_offsets(const struct units *units, size_t *count);

/* The unit, read, or NULL when none holds the address. Valid until the next call. */
struct unit *units_find(struct units *units, uint64_t svma, struct functions *functions);
