/* SPDX-License-Identifier: MIT */
/*
 * The DIEs of a unit in file order, without recursion: nesting costs nothing, and every step moves
 * forward, so the walk ends whatever DW_AT_sibling claims.
 *
 * libdw looks the abbreviation of each DIE up in a hash table, under a lock, and walks over the
 * attributes one by one. A large unit has a million DIEs of two hundred abbreviations, and most are
 * skipped: here each abbreviation is compiled once into a few skipping steps.
 */
#pragma once

#include "base/containers/cursor.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

struct die_abbreviations;

struct die_walk {
    Dwarf_Die die;
    unsigned tag; /* DW_TAG_* */
    bool has_children;
    bool has_code;   /* DW_AT_low_pc or DW_AT_ranges */
    unsigned depth;  /* 0: the unit's own DIE */
    bool is_damaged; /* the end of the unit was not reached */
    /* Private: */
    struct die_abbreviations *abbreviations; /* owned; NULL: the walk is over */
    struct cursor unit;                      /* behind the DIE's abbreviation code */
    uint32_t code;
};

/* Stands at the unit's own DIE. */
struct die_walk die_walk_start(const Dwarf_Die *unit);
void die_walk_end(struct die_walk *walk);

/* Moves to the next DIE; with `descend` to the first child, else behind the subtree. False at the
 * end of the unit and at the first malformed DIE. */
bool die_walk_next(struct die_walk *walk, bool descend);
