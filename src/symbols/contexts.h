/* SPDX-License-Identifier: MIT */
/*
 * What a DIE lies in: namespaces, classes, functions. libdw knows no parents, so a unit is walked once,
 * and only units in which some function's name has to be put together from its surroundings.
 */
#pragma once

#include "base/containers/intern.h"

#include <elfutils/libdw.h>
#include <stdint.h>

#define CONTEXT_NONE UINT32_MAX

struct context {     /* a large unit has a million: places are offsets from the unit's DIE */
    uint32_t at;     /* its DIE */
    uint32_t end;    /* the first DIE after its children; 0: there is none */
    uint32_t parent; /* in the same unit; CONTEXT_NONE: the unit itself */
};

struct unit_contexts {
    Dwarf_Die die;            /* the unit's */
    struct context *contexts; /* in the order of the file */
    size_t count, capacity;
};

struct contexts {
    struct intern *keys; /* Dwarf_CU * -> index */
    struct unit_contexts *units;
    size_t count, capacity;
};

int contexts_init(struct contexts *contexts);
void contexts_free(struct contexts *contexts);

/* The DIE of a context. */
Dwarf_Die context_die(const struct unit_contexts *unit, uint32_t index);

/* The innermost context that a DIE lies in, itself not counted; *unit: the table it is an index of.
 * CONTEXT_NONE: none, or out of memory. */
uint32_t contexts_find(struct contexts *contexts, const Dwarf_Die *die,
                       const struct unit_contexts **unit);
