/* SPDX-License-Identifier: MIT */
/*
 * The DIEs of one unit in the order they lie in the file, without recursion: hostile nesting costs
 * nothing, and every step moves forward, so a walk ends whatever DW_AT_sibling claims.
 *
 * libdw looks every DIE's abbreviation up in a hash table, under a lock, and walks over its attributes one
 * by one. A large unit has a million DIEs of two hundred abbreviations, and most are stepped over: here
 * each abbreviation is turned once into the few steps that lead over such a DIE.
 */
#pragma once

#include "base/containers/cursor.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

struct die_abbreviations;

struct die_walk {
    Dwarf_Die die;
    unsigned tag; /* its DW_TAG_* */
    bool has_children;
    bool has_code;   /* it has addresses of its own */
    unsigned depth;  /* 0: the unit's own DIE */
    bool is_damaged; /* the unit could not be read to its end */
    /* Private: */
    struct die_abbreviations *abbreviations; /* owned; NULL: the walk is over */
    struct cursor unit;                      /* behind the DIE's abbreviation code */
    uint32_t code;
};

/* Stands at the unit's own DIE. */
struct die_walk die_walk_start(const Dwarf_Die *unit);
void die_walk_end(struct die_walk *walk);

/* Moves to the next DIE; with `descend` its first child comes next, else its subtree is left out.
 * False at the end of the unit and at the first DIE that cannot be read. */
bool die_walk_next(struct die_walk *walk, bool descend);
