/* SPDX-License-Identifier: MIT */
/*
 * The hash tables behind the profile_*_id() calls. An element's interned key has the same id as the
 * element in its table: both only ever grow, in step, until memory runs out. The nodes of trees, by far the
 * most, are their own keys.
 */
#pragma once

#include "base/intern.h"
#include "base/pairs.h"

struct profile_index {
    struct intern *libs;
    struct intern *addresses;       /* NULL: nobody asks for those that there are any more */
    struct intern *funcs, *symbols; /* the same */
    struct pairs calls, lists;
};
