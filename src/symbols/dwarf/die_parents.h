/* SPDX-License-Identifier: MIT */
/*
 * What a DIE lies in: namespaces, classes, functions. libdw knows no parents, so a unit is walked once,
 * and only units in which some function's name has to be put together from its surroundings.
 */
#pragma once

#include "base/containers/intern.h"

#include <elfutils/libdw.h>
#include <stdint.h>

#define DIE_PARENT_NONE UINT32_MAX

struct die_parent {  /* a large unit has a million: places are offsets from the unit's DIE */
    uint32_t at;     /* its DIE */
    uint32_t end;    /* the first DIE after its children; 0: there is none */
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

/* The innermost context that a DIE lies in, itself not counted; *unit: the table it is an index of.
 * DIE_PARENT_NONE: none, or out of memory. */
uint32_t die_parents_find(struct die_parents *parents, const Dwarf_Die *die,
                          const struct unit_parents **unit);
