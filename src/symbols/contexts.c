/* SPDX-License-Identifier: MIT */
#include "symbols/contexts.h"

#include "base/array.h"
#include "symbols/die_walk.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

enum { DEEPEST = 256 }; /* nested contexts; what lies deeper has that one's */

int contexts_init(struct contexts *contexts)
{
    contexts->keys = intern_new();
    return contexts->keys ? 0 : -ENOMEM;
}

void contexts_free(struct contexts *contexts)
{
    for (size_t i = 0; i < contexts->count; i++)
        free(contexts->units[i].contexts);
    free(contexts->units);
    if (contexts->keys)
        intern_free(contexts->keys);
    *contexts = (struct contexts){0};
}

static bool is_context(unsigned tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subprogram:
        return true;
    default:
        return false;
    }
}

static bool may_hold_contexts(unsigned tag)
{
    return is_context(tag) || tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit ||
           tag == DW_TAG_lexical_block;
}

static int read_unit(struct unit_contexts *unit, const Dwarf_Die *unit_die)
{
    struct {
        unsigned depth;
        uint32_t context;
    } open[DEEPEST];
    size_t open_count = 0;
    struct die_walk walk = die_walk_start(unit_die);
    bool descend;
    int err = 0;
    do {
        while (open_count && open[open_count - 1].depth >= walk.depth)
            unit->contexts[open[--open_count].context].end = walk.die.addr;
        descend = may_hold_contexts(walk.tag);
        if (!is_context(walk.tag) || open_count == DEEPEST || unit->count == CONTEXT_NONE)
            continue;
        struct context *context = ARRAY_PUSH(unit->contexts, unit->count, unit->capacity);
        if (!context) {
            err = -ENOMEM;
            break;
        }
        context->die = walk.die;
        context->parent = open_count ? open[open_count - 1].context : CONTEXT_NONE;
        open[open_count].depth = walk.depth;
        open[open_count++].context = (uint32_t)unit->count - 1;
    } while (die_walk_next(&walk, descend));
    die_walk_end(&walk);
    return err;
}

static struct unit_contexts *unit_of(struct contexts *contexts, const Dwarf_Die *die)
{
    uint32_t index = intern_add(contexts->keys, &die->cu, sizeof(die->cu));
    if (index == INTERN_NONE || index > contexts->count)
        return NULL;
    if (index < contexts->count)
        return &contexts->units[index];
    struct unit_contexts *unit = ARRAY_PUSH(contexts->units, contexts->count, contexts->capacity);
    Dwarf_Die unit_die;
    if (unit && dwarf_cu_die(die->cu, &unit_die, NULL, NULL, NULL, NULL, NULL, NULL) &&
        read_unit(unit, &unit_die) != 0)
        return NULL;
    return unit;
}

uint32_t contexts_find(struct contexts *contexts, const Dwarf_Die *die,
                       const struct unit_contexts **unit)
{
    const unsigned char *addr = die->addr;
    *unit = unit_of(contexts, die);
    if (!*unit)
        return CONTEXT_NONE;
    size_t low = 0, high = (*unit)->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((const unsigned char *)(*unit)->contexts[middle].die.addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    /* The last that begins before it, or the nearest of its parents that has not ended. */
    uint32_t found = low ? (uint32_t)low - 1 : CONTEXT_NONE;
    while (found != CONTEXT_NONE && (*unit)->contexts[found].end &&
           (*unit)->contexts[found].end <= addr)
        found = (*unit)->contexts[found].parent;
    return found;
}
