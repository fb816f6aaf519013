/* SPDX-License-Identifier: MIT */
/*
 * A list in the order of the file, with parents by index. The parent of a DIE is the last entry
 * before the DIE, or an outer entry:
 *
 *     index   0 namespace a      at 10, end 90      for a DIE at 70: index 2 ends at 60,
 *             1   class b        at 20, end 80      so the parent is index 1
 *             2     subprogram   at 30, end 60
 */
#include "symbols/dwarf/die_parents.h"

#include "base/containers/array.h"
#include "symbols/dwarf/die_walk.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

enum { DEEPEST = 256 }; /* nesting; deeper DIEs get the parent at this depth */

int die_parents_init(struct die_parents *parents)
{
    parents->keys = intern_new();
    return parents->keys ? 0 : -ENOMEM;
}

void die_parents_free(struct die_parents *parents)
{
    for (size_t i = 0; i < parents->count; i++)
        free(parents->units[i].parents);
    free(parents->units);
    if (parents->keys)
        intern_free(parents->keys);
    *parents = (struct die_parents){0};
}

static bool is_parent(unsigned tag)
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

static bool may_hold_parents(unsigned tag)
{
    return is_parent(tag) || tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit ||
           tag == DW_TAG_lexical_block;
}

/* 0 beyond 4 GiB; no unit is as large. */
static uint32_t offset_of(const struct unit_parents *unit, const void *address)
{
    ptrdiff_t offset = (const char *)address - (const char *)unit->die.addr;
    return offset < 0 || offset > UINT32_MAX ? 0 : (uint32_t)offset;
}

Dwarf_Die die_parent_at(const struct unit_parents *unit, uint32_t index)
{
    return (Dwarf_Die){.addr = (char *)unit->die.addr + unit->parents[index].at,
                       .cu = unit->die.cu};
}

/* A pass over the unit. open: the parents of the present DIE, outermost first. */
static int read_unit(struct unit_parents *unit)
{
    struct {
        unsigned depth;
        uint32_t parent;
    } open[DEEPEST];
    size_t open_count = 0;
    struct die_walk walk = die_walk_start(&unit->die);
    bool descend;
    int err = 0;
    do {
        while (open_count && open[open_count - 1].depth >= walk.depth)
            unit->parents[open[--open_count].parent].end = offset_of(unit, walk.die.addr);
        descend = may_hold_parents(walk.tag);
        bool may_hold = is_parent(walk.tag) && walk.has_children && offset_of(unit, walk.die.addr);
        if (!may_hold || open_count == DEEPEST || unit->count == DIE_PARENT_NONE)
            continue;
        struct die_parent *parent = ARRAY_PUSH(unit->parents, unit->count, unit->capacity);
        if (!parent) {
            err = -ENOMEM;
            break;
        }
        parent->at = offset_of(unit, walk.die.addr);
        parent->parent = open_count ? open[open_count - 1].parent : DIE_PARENT_NONE;
        open[open_count].depth = walk.depth;
        open[open_count++].parent = (uint32_t)unit->count - 1;
    } while (die_walk_next(&walk, descend));
    die_walk_end(&walk);
    return err;
}

static struct unit_parents *unit_of(struct die_parents *parents, const Dwarf_Die *die)
{
    uint32_t index = intern_add(parents->keys, &die->cu, sizeof(die->cu));
    if (index == INTERN_NONE || index > parents->count)
        return NULL;
    if (index < parents->count)
        return &parents->units[index];
    struct unit_parents *unit = ARRAY_PUSH(parents->units, parents->count, parents->capacity);
    if (unit && dwarf_cu_die(die->cu, &unit->die, NULL, NULL, NULL, NULL, NULL, NULL) &&
        read_unit(unit) != 0)
        return NULL;
    return unit;
}

uint32_t die_parents_find(struct die_parents *parents, const Dwarf_Die *die,
                          const struct unit_parents **unit)
{
    *unit = unit_of(parents, die);
    if (!*unit)
        return DIE_PARENT_NONE;
    uint32_t at = offset_of(*unit, die->addr);
    size_t low = ARRAY_COUNT_BELOW((*unit)->parents, (*unit)->count, at, at);
    /* The last parent before the DIE, or the nearest of its parents that has not ended. */
    uint32_t found = low ? (uint32_t)low - 1 : DIE_PARENT_NONE;
    while (found != DIE_PARENT_NONE && (*unit)->parents[found].end &&
           (*unit)->parents[found].end <= at)
        found = (*unit)->parents[found].parent;
    return found;
}
