/* SPDX-License-Identifier: MIT */
/*
 * Two passes over a table in any order. address_filter_keeps() decides by a single symbol, and
 * notes the rest in the gap of the symbol; address_filter_finish() passes limits on, from the last
 * gap to the first. A symbol without size ends at the first of
 *
 *     the next kept symbol        symtab_finish()
 *     `limit` of the gap          a dropped symbol in a later gap
 *     the start of the symbol     a sized symbol of the gap reaches beyond (sized_end)
 */
#include "symbols/symtab/address_filter.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

static size_t part_of(const struct address_filter *filter, uint64_t svma)
{
    return (size_t)((svma - filter->gaps[0].svma) >> filter->part_shift);
}

static int divide(struct address_filter *filter)
{
    const uint64_t bytes = filter->gaps[filter->count - 1].svma - filter->gaps[0].svma;
    while (bytes >> filter->part_shift >= 2 * filter->count)
        filter->part_shift++;
    filter->part_count = part_of(filter, filter->gaps[filter->count - 1].svma) + 1;
    filter->parts = calloc(filter->part_count + 1, sizeof(*filter->parts));
    if (!filter->parts)
        return -ENOMEM;
    for (size_t i = 0; i < filter->count; i++)
        filter->parts[part_of(filter, filter->gaps[i].svma) + 1]++;
    for (size_t i = 0; i < filter->part_count; i++)
        filter->parts[i + 1] += filter->parts[i];
    return 0;
}

int address_filter_init(struct address_filter *filter, const uint64_t *svmas, size_t count)
{
    filter->gaps = count <= UINT32_MAX ? calloc(count, sizeof(*filter->gaps)) : NULL;
    if (!filter->gaps)
        return -ENOMEM;
    filter->count = count;
    for (size_t i = 0; i < count; i++)
        filter->gaps[i].svma = svmas[i];
    return divide(filter);
}

void address_filter_free(struct address_filter *filter)
{
    free(filter->gaps);
    free(filter->parts);
    *filter = (struct address_filter){0};
}

/* The gap around an address; filter->count: none. */
static size_t gap_of(const struct address_filter *filter, uint64_t svma)
{
    if (filter->count == 0 || svma <= filter->gaps[0].svma)
        return 0;
    const size_t part = part_of(filter, svma);
    if (part >= filter->part_count)
        return filter->count;
    const size_t first = filter->parts[part], count = filter->parts[part + 1] - first;
    return first + ARRAY_COUNT_BELOW(filter->gaps + first, count, svma, svma);
}

bool address_filter_has(const struct address_filter *filter, uint64_t svma, uint64_t end)
{
    size_t index = gap_of(filter, svma);
    return filter->count == 0 || (index < filter->count && filter->gaps[index].svma < end);
}

/* A symbol without size ends at the next symbol: of those in a gap, only the last can hold the
 * gap's address. */
bool address_filter_keeps(struct address_filter *filter, uint64_t svma, uint64_t end, bool is_sized)
{
    if (filter->count == 0)
        return true;
    size_t index = gap_of(filter, svma);
    if (index == filter->count)
        return false;
    struct address_gap *gap = &filter->gaps[index];
    bool is_last = !gap->has_symbols || svma >= gap->last;
    if (is_last)
        gap->last = svma;
    gap->has_symbols = true;
    if (!is_sized)
        return is_last;
    if (end > gap->sized_end)
        gap->sized_end = end;
    return end > gap->svma;
}

void address_filter_finish(struct address_filter *filter)
{
    uint64_t limit = UINT64_MAX;
    for (size_t i = filter->count; i-- > 0;) {
        filter->gaps[i].limit = limit;
        if (filter->gaps[i].has_symbols)
            limit = filter->gaps[i].svma;
    }
}

uint64_t address_filter_end(const struct address_filter *filter, uint64_t svma, uint64_t end)
{
    size_t index = gap_of(filter, svma);
    if (index == filter->count)
        return end;
    const struct address_gap *gap = &filter->gaps[index];
    /* A symbol before its gap's last is followed by a kept symbol, or has a size. A sized symbol of
     * an earlier gap that reaches here holds that gap's address, and is kept, too. */
    if (svma < gap->sized_end)
        return svma;
    return end < gap->limit ? end : gap->limit;
}
