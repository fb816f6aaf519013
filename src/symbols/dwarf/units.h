/* SPDX-License-Identifier: MIT */
/*
 * The compilation unit of an address: by .debug_aranges, which gcc writes, and clang and rustc do
 * not. The ranges of units without entries there are read from their DIEs, at the first address
 * that no entry covers.
 */
#pragma once

#include "symbols/dwarf/reading_clock.h"
#include "symbols/dwarf/unit.h"

struct units {
    Dwarf *dwarf;
    struct splits *splits;       /* borrowed */
    struct reading_clock *clock; /* borrowed */
    struct unit *units;
    size_t count, capacity;
    struct spans spans; /* value: index in units */
    bool is_complete;   /* units without aranges are added */
    bool is_damaged;    /* no units, unreadable units, or damage in a unit read so far */
};

int units_init(struct units *units, Dwarf *dwarf, struct splits *splits,
               struct reading_clock *clock);
void units_free(struct units *units);

/* Where their line tables begin, ascending, owned by the caller; NULL: out of memory. */
uint64_t *units_line_offsets(const struct units *units, size_t *count);

/* The unit, read, or NULL: none holds the address, or no time is left. Valid until the next
 * call. */
struct unit *units_find(struct units *units, uint64_t svma, struct functions *functions);
