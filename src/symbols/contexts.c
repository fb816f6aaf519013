/* SPDX-License-Identifier: MIT */
#include "symbols/contexts.h"

#include "base/containers/array.h"
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

/* 0 for what lies too far away; no unit is that large. */
static uint32_t offset_of(const struct unit_contexts *unit, const void *address)
{
    ptrdiff_t offset = (const char *)address - (const char *)unit->die.addr;
    return offset < 0 || offset > UINT32_MAX ? 0 : (uint32_t)offset;
}

Dwarf_Die context_die(const struct unit_contexts *unit, uint32_t index)
{
    return (Dwarf_Die){.addr = (char *)unit->die.addr + unit->contexts[index].at,
                       .cu = unit->die.cu};
}

static int read_unit(struct unit_contexts *unit)
{
    struct {
        unsigned depth;
        uint32_t context;
    } open[DEEPEST];
    size_t open_count = 0;
    struct die_walk walk = die_walk_start(&unit->die);
    bool descend;
    int err = 0;
    do {
        while (open_count && open[open_count - 1].depth >= walk.depth)
            unit->contexts[open[--open_count].context].end = offset_of(unit, walk.die.addr);
        descend = may_hold_contexts(walk.tag);
        bool may_hold = is_context(walk.tag) && walk.has_children && offset_of(unit, walk.die.addr);
        if (!may_hold || open_count == DEEPEST || unit->count == CONTEXT_NONE)
            continue;
        struct context *context = ARRAY_PUSH(unit->contexts, unit->count, unit->capacity);
        if (!context) {
            err = -ENOMEM;
            break;
        }
        context->at = offset_of(unit, walk.die.addr);
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
    if (unit && dwarf_cu_die(die->cu, &unit->die, NULL, NULL, NULL, NULL, NULL, NULL) &&
        read_unit(unit) != 0)
        return NULL;
    return unit;
}

uint32_t contexts_find(struct contexts *contexts, const Dwarf_Die *die,
                       const struct unit_contexts **unit)
{
    *unit = unit_of(contexts, die);
    if (!*unit)
        return CONTEXT_NONE;
    uint32_t at = offset_of(*unit, die->addr);
    size_t low = ARRAY_COUNT_BELOW((*unit)->contexts, (*unit)->count, at, at);
    /* The last that begins before it, or the nearest of its parents that has not ended. */
    uint32_t found = low ? (uint32_t)low - 1 : CONTEXT_NONE;
    while (found != CONTEXT_NONE && (*unit)->contexts[found].end &&
           (*unit)->contexts[found].end <= at)
        found = (*unit)->contexts[found].parent;
    return found;
}
