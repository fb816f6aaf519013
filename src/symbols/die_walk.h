/* SPDX-License-Identifier: MIT */
/*
 * The DIEs of one unit in the order they lie in the file, without recursion: hostile nesting costs
 * nothing, and every step moves forward, so a walk ends whatever DW_AT_sibling claims.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>

struct die_walk {
    Dwarf_Die die;
    unsigned depth; /* 0: the unit's own DIE */
};

struct die_walk die_walk_start(const Dwarf_Die *unit);

/* Moves to the next DIE; with `descend` its first child comes next, else its subtree is left out.
 * False at the end of the unit and at the first DIE that cannot be read. */
bool die_walk_next(struct die_walk *walk, bool descend);
