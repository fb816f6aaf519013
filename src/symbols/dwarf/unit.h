/* SPDX-License-Identifier: MIT */
/*
 * A compilation unit, read at the first lookup inside: a pass over the DIEs gathers the code ranges
 * of functions and inlined calls.
 *
 *     DIEs                                      scopes (parent)        spans
 *     subprogram main        0x100-0x180        0 main                 0x100 ├────────────────┤
 *       inlined_subroutine f 0x110-0x140        1 f     (0)            0x110    ├──────┤
 *         inlined_subr.    g 0x118-0x120        2 g     (1)            0x118      ├─┤
 *
 * The innermost scope at an address and its parents are the inline chain.
 */
#pragma once

#include "symbols/dwarf/functions.h"
#include "symbols/dwarf/lines.h"
#include "symbols/dwarf/reading_clock.h"
#include "symbols/dwarf/spans.h"
#include "symbols/split/split.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct scope {
    Dwarf_Die die;
    uint32_t parent; /* the scope it is inlined into; SPAN_NONE: out of line */
};

struct unit {
    Dwarf_Die die;
    struct split *split;      /* owned; NULL: the functions are described where the unit is */
    Dwarf_Off offset;         /* of die */
    bool has_aranges;         /* listed in .debug_aranges */
    bool is_read, is_damaged; /* damaged: read in part */
    struct scope *scopes;
    size_t scope_count, scope_capacity;
    struct spans spans;       /* value: index in scopes */
    struct line_table *lines; /* borrowed; NULL: none */
};

enum { UNIT_DEEPEST = 256 }; /* nested scopes; deeper scopes are left out */

/* Once, with a running clock. Leaves damaged parts out; 0, -ENOMEM, or -ETIME: no time is left. */
int unit_read(struct unit *unit, struct functions *functions, struct splits *splits,
              struct reading_clock *clock);
void unit_free(struct unit *unit);

struct position {
    const char *file; /* NULL: unknown */
    uint32_t line, column;
};

/* The line table's position of an address. */
struct position unit_line(struct unit *unit, uint64_t svma, struct source_paths *paths);

/* Where an inlined scope is called from. */
struct position unit_call_site(struct unit *unit, uint32_t scope, struct source_paths *paths);
