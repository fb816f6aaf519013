/* SPDX-License-Identifier: MIT */
/*
 * Which of many nested address ranges holds an address, answered by one binary search.
 *
 *     spans, by depth   ├──────── main ────────┤   ├── f ──┤        gathered in any order
 *                          ├─ inlined ─┤
 *     segments          │m │ inlined   │ main  │ - │ f     │ -      flattened once
 *
 * Where spans overlap, the one that starts later wins; of those that start together the deepest.
 * Ranges that overlap without being nested (identical code folded, damaged files) are no problem.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SPAN_NONE UINT32_MAX

struct span {
    uint64_t low, high; /* [low, high) */
    uint32_t depth;
    uint32_t value;
};

struct segment { /* up to the next one's low */
    uint64_t low;
    uint32_t value; /* SPAN_NONE: a gap */
};

struct spans {
    struct span *spans;
    size_t count, capacity;
    struct segment *segments;
    size_t segment_count, segment_capacity;
};

void spans_free(struct spans *spans);

/* Empty ranges are left out; 0 or -ENOMEM. */
int spans_add(struct spans *spans, uint64_t low, uint64_t high, uint32_t depth, uint32_t value);

/* Before the first spans_find(), and again after more were added; 0 or -ENOMEM. */
int spans_flatten(struct spans *spans);

/* The value at an address, or SPAN_NONE. */
uint32_t spans_find(const struct spans *spans, uint64_t svma);
