/* SPDX-License-Identifier: MIT */
/*
 * Nested address ranges, looked up by a single binary search.
 *
 *     spans, by depth   ├──────── main ────────┤   ├── f ──┤        gathered in any order
 *                          ├─ inlined ─┤
 *     segments          │m │ inlined   │ main  │ - │ f     │ -      flattened once
 *
 * Of overlapping spans the later start wins; of equal starts the deepest. Ranges may overlap
 * without nesting (identical code folded, damaged files).
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

struct segment { /* ends at the next segment's low */
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
