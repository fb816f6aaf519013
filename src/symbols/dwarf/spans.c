/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/spans.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <errno.h>
#include <stdlib.h>

void spans_free(struct spans *spans)
{
    free(spans->spans);
    free(spans->segments);
    *spans = (struct spans){0};
}

int spans_add(struct spans *spans, uint64_t low, uint64_t high, uint32_t depth, uint32_t value)
{
    if (high <= low)
        return 0;
    struct span *span = ARRAY_PUSH(spans->spans, spans->count, spans->capacity);
    if (!span)
        return -ENOMEM;
    *span = (struct span){.low = low, .high = high, .depth = depth, .value = value};
    return 0;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Of spans with the same start, the innermost comes last; the value makes the order total. */
static int compare_at_one_place(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->depth != b->depth)
        return COMPARE(a->depth, b->depth);
    if (a->high != b->high)
        return COMPARE(b->high, a->high);
    return COMPARE(a->value, b->value);
}

/* A segment at the same start replaces the one before: the innermost span of a start comes last. */
static int emit(struct spans *spans, uint64_t low, uint32_t value)
{
    struct segment *last = spans->segment_count ? &spans->segments[spans->segment_count - 1] : NULL;
    if (last && last->low == low) {
        last->value = value;
        return 0;
    }
    if (last && last->value == value)
        return 0;
    struct segment *segment =
        ARRAY_PUSH(spans->segments, spans->segment_count, spans->segment_capacity);
    if (!segment)
        return -ENOMEM;
    *segment = (struct segment){.low = low, .value = value};
    return 0;
}

/* Closes the open spans that end at or before svma; the enclosing span continues. */
static int close_until(struct spans *spans, const struct span **open, size_t *open_count,
                       uint64_t svma)
{
    int err = 0;
    while (err == 0 && *open_count > 0 && open[*open_count - 1]->high <= svma) {
        uint64_t end = open[*open_count - 1]->high;
        while (*open_count > 0 && open[*open_count - 1]->high <= end)
            (*open_count)--;
        err = emit(spans, end, *open_count ? open[*open_count - 1]->value : SPAN_NONE);
    }
    return err;
}

/* A sweep by start address. open: the spans around the present address, the innermost last; its
 * value holds up to its end, or up to the next start. */
int spans_flatten(struct spans *spans)
{
    spans->segment_count = 0;
    if (spans->count == 0)
        return 0;
    const struct span **open = calloc(spans->count, sizeof(*open));
    size_t open_count = 0;
    int err = open ? SORT_BY_THEN(spans->spans, spans->count, low, compare_at_one_place) : -ENOMEM;
    for (size_t i = 0; err == 0 && i < spans->count; i++) {
        err = close_until(spans, open, &open_count, spans->spans[i].low);
        open[open_count++] = &spans->spans[i];
        if (err == 0)
            err = emit(spans, spans->spans[i].low, spans->spans[i].value);
    }
    if (err == 0)
        err = close_until(spans, open, &open_count, UINT64_MAX);
    free(open);
    return err;
}

uint32_t spans_find(const struct spans *spans, uint64_t svma)
{
    size_t low = ARRAY_COUNT_UP_TO(spans->segments, spans->segment_count, low, svma);
    return low ? spans->segments[low - 1].value : SPAN_NONE;
}
