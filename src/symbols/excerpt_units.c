/* SPDX-License-Identifier: MIT */
#include "symbols/excerpt_units.h"

#include "base/array.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

enum { TUPLE_BYTES = 16 };

struct pass {
    const uint64_t *wanted;
    size_t wanted_count;
    bool *is_found;
};

void excerpt_units_free(struct excerpt_units *units)
{
    free(units->units);
    *units = (struct excerpt_units){0};
}

static size_t first_wanted(const struct pass *pass, uint64_t svma)
{
    size_t low = 0, high = pass->wanted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pass->wanted[middle] < svma)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_range(struct pass *pass, struct excerpt_unit *unit, uint64_t start, uint64_t size)
{
    uint64_t end;
    if (start == 0 || __builtin_add_overflow(start, size, &end))
        return;
    unit->has_aranges = true;
    for (size_t i = first_wanted(pass, start); i < pass->wanted_count && pass->wanted[i] < end; i++)
        unit->is_wanted = pass->is_found[i] = true;
}

/* One unit's: its ranges up to a pair of zeros. */
static int read_set(struct excerpt_units *units, struct pass *pass, struct cursor *aranges)
{
    uint32_t bytes = cursor_u32(aranges);
    struct cursor c = cursor_sub(aranges, bytes);
    uint16_t version = cursor_u16(&c);
    uint64_t offset = cursor_u32(&c);
    uint8_t address_bytes = cursor_u8(&c), segment_bytes = cursor_u8(&c);
    cursor_skip(&c, -(c.at + sizeof(bytes)) % TUPLE_BYTES);
    if (aranges->failed || c.failed || version != 2 || address_bytes != 8 || segment_bytes != 0)
        return -EBADMSG;
    struct excerpt_unit *unit = ARRAY_PUSH(units->units, units->count, units->capacity);
    if (!unit)
        return -ENOMEM;
    unit->offset = offset;
    while (cursor_left(&c) >= TUPLE_BYTES) {
        uint64_t svma = cursor_u64(&c), size = cursor_u64(&c);
        if (svma == 0 && size == 0)
            break;
        add_range(pass, unit, svma, size);
    }
    return 0;
}

static bool are_all(const bool *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!flags[i])
            return false;
    return true;
}

int excerpt_units_read(struct excerpt_units *units, struct cursor aranges, const uint64_t *wanted,
                       size_t wanted_count)
{
    struct pass pass = {wanted, wanted_count, calloc(wanted_count + 1, sizeof(bool))};
    int err = pass.is_found ? 0 : -ENOMEM;
    while (err == 0 && cursor_left(&aranges) > 0)
        err = read_set(units, &pass, &aranges);
    if (err == 0)
        err = SORT_BY(units->units, units->count, offset);
    units->is_complete = err == 0 && are_all(pass.is_found, wanted_count);
    units->end = units->is_complete ? 0 : UINT64_MAX;
    for (size_t i = 0; i < units->count && units->is_complete; i++)
        if (units->units[i].is_wanted)
            units->end = units->units[i].offset + 1;
    free(pass.is_found);
    return err;
}

bool excerpt_units_need(const struct excerpt_units *units, uint64_t offset)
{
    bool is_wanted = false, has_aranges = false;
    size_t i = ARRAY_COUNT_BELOW(units->units, units->count, offset, offset);
    for (; i < units->count && units->units[i].offset == offset; i++) {
        is_wanted |= units->units[i].is_wanted;
        has_aranges |= units->units[i].has_aranges;
    }
    return is_wanted || (!has_aranges && !units->is_complete);
}
