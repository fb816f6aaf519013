/* SPDX-License-Identifier: MIT */
/*
 * The hash tables behind the profile_*_id() calls. An element's interned key has the same id as the
 * element in its table: both only ever grow, in step, until memory runs out.
 */
#pragma once

#include "base/intern.h"

struct profile_index {
    struct intern *libs;
    struct intern *addresses;
    struct intern *calls;
    struct intern *funcs;
    struct intern *symbols;
    struct intern *stacks;
};
