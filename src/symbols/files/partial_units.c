/* SPDX-License-Identifier: MIT */
#include "symbols/files/partial_units.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <errno.h>
#include <stdlib.h>

enum { TUPLE_BYTES = 16 };

struct pass {
    struct needed_svma {
        uint64_t svma;
        int64_t covers; /* starts less ends of ranges here; summed up: ranges around */
    } * needed;         /* ascending; one more at the end */
    size_t count;
};

void partial_units_free(struct partial_units *units)
{
    free(units->units);
    *units = (struct partial_units){0};
}

static int pass_begin(struct pass *pass, const uint64_t *needed, size_t count)
{
    *pass = (struct pass){calloc(count + 1, sizeof(*pass->needed)), count};
    for (size_t i = 0; pass->needed && i < count; i++)
        pass->needed[i].svma = needed[i];
    return pass->needed ? 0 : -ENOMEM;
}

/* In logarithmic time, whatever the number of addresses in the range: a hostile file may have many
 * such ranges. */
static void add_range(struct pass *pass, struct partial_unit *unit, uint64_t start, uint64_t size)
{
    uint64_t end;
    if (start == 0 || __builtin_add_overflow(start, size, &end))
        return;
    unit->has_aranges = true;
    size_t first = ARRAY_COUNT_BELOW(pass->needed, pass->count, svma, start);
    size_t behind = ARRAY_COUNT_BELOW(pass->needed, pass->count, svma, end);
    unit->is_needed |= first < behind;
    pass->needed[first].covers++;
    pass->needed[behind].covers--;
}

/* The set of a unit: ranges up to a pair of zeros. The first begins at a multiple of its size
 * (DWARF 5, 6.1.2). */
static int read_set(struct partial_units *units, struct pass *pass, struct cursor *aranges)
{
    uint32_t bytes = cursor_u32(aranges);
    struct cursor c = cursor_sub(aranges, bytes);
    uint16_t version = cursor_u16(&c);
    uint64_t offset = cursor_u32(&c);
    uint8_t address_bytes = cursor_u8(&c), segment_bytes = cursor_u8(&c);
    cursor_skip(&c, -(c.at + sizeof(bytes)) % TUPLE_BYTES);
    if (aranges->failed || c.failed || version != 2 || address_bytes != 8 || segment_bytes != 0)
        return -EBADMSG;
    struct partial_unit *unit = ARRAY_PUSH(units->units, units->count, units->capacity);
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

/* Whether each needed address lies in a range. */
static bool has_found_all(const struct pass *pass)
{
    int64_t covers = 0;
    for (size_t i = 0; i < pass->count; i++)
        if ((covers += pass->needed[i].covers) == 0)
            return false;
    return true;
}

int partial_units_read(struct partial_units *units, struct cursor aranges, const uint64_t *needed,
                       size_t needed_count)
{
    struct pass pass;
    int err = pass_begin(&pass, needed, needed_count);
    while (err == 0 && cursor_left(&aranges) > 0)
        err = read_set(units, &pass, &aranges);
    if (err == 0)
        err = SORT_BY(units->units, units->count, offset);
    units->is_complete = err == 0 && has_found_all(&pass);
    units->end = units->is_complete ? 0 : UINT64_MAX;
    for (size_t i = 0; i < units->count && units->is_complete; i++)
        if (units->units[i].is_needed)
            units->end = units->units[i].offset + 1;
    free(pass.needed);
    return err;
}

bool partial_units_need(const struct partial_units *units, uint64_t offset)
{
    bool is_needed = false, has_aranges = false;
    size_t i = ARRAY_COUNT_BELOW(units->units, units->count, offset, offset);
    for (; i < units->count && units->units[i].offset == offset; i++) {
        is_needed |= units->units[i].is_needed;
        has_aranges |= units->units[i].has_aranges;
    }
    return is_needed || (!has_aranges && !units->is_complete);
}
