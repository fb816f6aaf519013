/* SPDX-License-Identifier: MIT */
#include "symbols/wanted.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

int wanted_init(struct wanted *wanted, const uint64_t *svmas, size_t count)
{
    wanted->gaps = calloc(count, sizeof(*wanted->gaps));
    if (!wanted->gaps)
        return -ENOMEM;
    wanted->count = count;
    for (size_t i = 0; i < count; i++)
        wanted->gaps[i].svma = svmas[i];
    return 0;
}

void wanted_free(struct wanted *wanted)
{
    free(wanted->gaps);
    *wanted = (struct wanted){0};
}

bool wanted_has(const struct wanted *wanted, uint64_t svma, uint64_t end)
{
    size_t index = ARRAY_COUNT_BELOW(wanted->gaps, wanted->count, svma, svma);
    return wanted->count == 0 || (index < wanted->count && wanted->gaps[index].svma < end);
}

bool wanted_keeps(struct wanted *wanted, uint64_t svma, uint64_t end, bool is_sized)
{
    if (wanted->count == 0)
        return true;
    size_t index = ARRAY_COUNT_BELOW(wanted->gaps, wanted->count, svma, svma);
    if (index == wanted->count)
        return false;
    struct wanted_gap *gap = &wanted->gaps[index];
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

void wanted_finish(struct wanted *wanted)
{
    uint64_t limit = UINT64_MAX;
    for (size_t i = wanted->count; i-- > 0;) {
        wanted->gaps[i].limit = limit;
        if (wanted->gaps[i].has_symbols)
            limit = wanted->gaps[i].svma;
    }
}

uint64_t wanted_end(const struct wanted *wanted, uint64_t svma, uint64_t end)
{
    size_t index = ARRAY_COUNT_BELOW(wanted->gaps, wanted->count, svma, svma);
    if (index == wanted->count)
        return end;
    const struct wanted_gap *gap = &wanted->gaps[index];
    /* Of a symbol that is not its gap's last a later one is kept, or it has a size. A sized one of a gap before that
     * reaches so far holds that gap's address: it is kept, too. */
    if (svma < gap->sized_end)
        return svma;
    return end < gap->limit ? end : gap->limit;
}
