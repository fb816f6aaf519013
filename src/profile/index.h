/* SPDX-License-Identifier: MIT */
/*
 * The hash tables of the profile_*_id() calls. An element's interned key has the same id as the
 * element in its table: table and interner grow in step until memory runs out. Tree nodes, by far
 * the most elements, are their own keys.
 */
#pragma once

#include "base/containers/intern.h"
#include "base/containers/prefix_table.h"

struct profile_index {
    struct intern *libs;
    struct intern *addresses;       /* NULL: no further lookups */
    struct intern *funcs, *symbols; /* the same */
    struct prefix_table calls, lists;
};
