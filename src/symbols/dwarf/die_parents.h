/* SPDX-License-Identifier: MIT */
/*
 * Parents of DIEs: namespaces, classes, functions. libdw has no parent links, so a unit is walked
 * once, but only if the name of a function has to be built from the names of its parents.
 */
#pragma once

#include "base/containers/intern.h"

#include <elfutils/libdw.h>
#include <stdint.h>

#define DIE_PARENT_NONE UINT32_MAX

struct die_parent {  /* a large unit has a million: places are offsets from the unit's DIE */
    uint32_t at;     /* of the DIE */
    uint32_t end;    /* first DIE behind the children; 0: none */
    uint32_t parent; /* in the same unit; DIE_PARENT_NONE: the unit itself */
};

struct unit_parents {
    Dwarf_Die die;              /* the unit's */
    struct die_parent *parents; /* in the order of the file */
    size_t count, capacity;
};

struct die_parents {
    struct intern *keys; /* Dwarf_CU * -> index */
    struct unit_parents *units;
    size_t count, capacity;
};

int die_parents_init(struct die_parents *parents);
void die_parents_free(struct die_parents *parents);

/* The DIE of a context. */
Dwarf_Die die_parent_at(const struct unit_parents *unit, uint32_t index);

/* The innermost parent of a DIE; *unit: the table of the index. DIE_PARENT_NONE: none, or out of
 * memory. */
uint32_t die_parents_find(struct die_parents *parents, const Dwarf_Die *die,
                          const struct unit_parents **unit);
