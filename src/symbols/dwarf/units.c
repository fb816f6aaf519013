/* SPDX-License-Identifier: MIT */
/*
 * Two stages, as the second reads the debug info of all units:
 *
 *     units_init()   list of units; ranges of .debug_aranges      most addresses of gcc's programs
 *     complete()     ranges of units without entries, from DIEs   an address outside of all ranges
 *
 * A unit itself is read at its first address (unit_read()). Without time, units_find() finds
 * nothing.
 */
#include "symbols/dwarf/units.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

void units_free(struct units *units)
{
    for (size_t i = 0; i < units->count; i++)
        unit_free(&units->units[i]);
    free(units->units);
    spans_free(&units->spans);
    *units = (struct units){0};
}

static int compare_units(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* In the order of the file. Debug info without any unit is damaged. */
static int list_units(struct units *units)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    int end;
    units->is_damaged = true;
    while ((end = dwarf_get_units(units->dwarf, cu, &cu, NULL, &type, &die, NULL)) == 0 &&
           !reading_clock_is_over(units->clock)) {
        units->is_damaged = false;
        if ((type != DW_UT_compile && type != DW_UT_skeleton) || units->count >= SPAN_NONE)
            continue;
        struct unit *unit = ARRAY_PUSH(units->units, units->count, units->capacity);
        if (!unit)
            return -ENOMEM;
        unit->die = die;
        unit->offset = dwarf_dieoffset(&die);
    }
    units->is_damaged |= end < 0;
    return 0;
}

/* DWARF 5, 6.1.2. Ranges from address 0 on belong to dropped code. */
static int add_aranges(struct units *units)
{
    Dwarf_Aranges *aranges;
    size_t count;
    if (units->count == 0 || dwarf_getaranges(units->dwarf, &aranges, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Addr start;
        Dwarf_Word size;
        struct unit key;
        uint64_t end;
        if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &start, &size, &key.offset) != 0 ||
            start == 0 || __builtin_add_overflow(start, size, &end))
            continue;
        struct unit *unit = bsearch(&key, units->units, units->count, sizeof(key), compare_units);
        if (!unit)
            continue;
        unit->has_aranges = true;
        if (spans_add(&units->spans, start, end, 0, (uint32_t)(unit - units->units)) != 0)
            return -ENOMEM;
    }
    return 0;
}

static int add_ranges_of_unit(struct units *units, uint32_t index)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    int err = 0;
    while (err == 0 && !reading_clock_is_over(units->clock) &&
           (offset = dwarf_ranges(&units->units[index].die, offset, &base, &start, &end)) > 0)
        if (start != 0)
            err = spans_add(&units->spans, start, end, 0, index);
    return err;
}

/* Adds the units without entries in .debug_aranges, which clang leaves out by default. At the first
 * address without a unit. */
static int complete(struct units *units)
{
    units->is_complete = true;
    int err = 0;
    if (!reading_clock_begin(units->clock))
        return 0;
    for (uint32_t i = 0; i < units->count && err == 0; i++)
        if (!units->units[i].has_aranges)
            err = add_ranges_of_unit(units, i);
    if (err == 0)
        err = spans_flatten(&units->spans);
    reading_clock_end(units->clock);
    return err;
}

int units_init(struct units *units, Dwarf *dwarf, struct splits *splits,
               struct reading_clock *clock)
{
    *units = (struct units){.dwarf = dwarf, .splits = splits, .clock = clock};
    if (!reading_clock_begin(clock))
        return 0;
    int err = list_units(units);
    if (err == 0 && !clock->is_over)
        err = add_aranges(units);
    if (err == 0)
        err = spans_flatten(&units->spans);
    reading_clock_end(clock);
    return err;
}

/* Ascending: the section is inflated from start to end (partial_lines.h). */
uint64_t *units_line_offsets(const struct units *units, size_t *count)
{
    uint64_t *offsets = calloc(units->count + 1, sizeof(*offsets));
    *count = 0;
    bool has_time = reading_clock_begin(units->clock);
    for (size_t i = 0;
         offsets && has_time && i < units->count && !reading_clock_is_over(units->clock); i++) {
        Dwarf_Attribute list;
        if (dwarf_attr(&units->units[i].die, DW_AT_stmt_list, &list) &&
            dwarf_formudata(&list, &offsets[*count]) == 0)
            ++*count;
    }
    if (has_time)
        reading_clock_end(units->clock);
    if (offsets && sort_by(offsets, *count, sizeof(*offsets), 0, sizeof(*offsets)) == 0)
        return offsets;
    free(offsets);
    return NULL;
}

static int read_unit(struct units *units, struct unit *unit, struct functions *functions)
{
    if (!reading_clock_begin(units->clock))
        return -ETIME;
    int err = unit_read(unit, functions, units->splits, units->clock);
    reading_clock_end(units->clock);
    return err;
}

struct unit *units_find(struct units *units, uint64_t svma, struct functions *functions)
{
    if (units->clock->is_over)
        return NULL;
    uint32_t index = spans_find(&units->spans, svma);
    if (index == SPAN_NONE && !units->is_complete && complete(units) == 0)
        index = spans_find(&units->spans, svma);
    if (index == SPAN_NONE)
        return NULL;
    struct unit *unit = &units->units[index];
    if (!unit->is_read && read_unit(units, unit, functions) != 0)
        return NULL;
    units->is_damaged |= unit->is_damaged;
    return unit;
}
