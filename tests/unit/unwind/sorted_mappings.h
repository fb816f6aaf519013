/* SPDX-License-Identifier: MIT */
/* The offline unwinder over an array of mappings, sorted and disjoint. */
#pragma once

#include "base/containers/array.h"
#include "unwind/offline.h"

struct sorted_mappings {
    const struct offline_mapping *mappings;
    size_t count;
};

static bool find_sorted(void *context, uint64_t pc, struct offline_mapping *mapping)
{
    const struct sorted_mappings *sorted = context;
    size_t low = ARRAY_COUNT_UP_TO(sorted->mappings, sorted->count, start_avma, pc);
    if (low == 0 || pc >= sorted->mappings[low - 1].end_avma)
        return false;
    *mapping = sorted->mappings[low - 1];
    return true;
}

static struct offline_result offline_unwind(const struct offline_mapping *mappings,
                                            size_t mapping_count, const struct full_regs *regs,
                                            bool first_is_return_address,
                                            const struct stack_view *stack, uint64_t *frames,
                                            size_t max_frames)
{
    struct sorted_mappings sorted = {mappings, mapping_count};
    const struct offline_map map = {.find = find_sorted, .context = &sorted};
    const struct offline_frames out = {.pcs = frames, .max = max_frames};
    return offline_unwind_in(&map, regs, first_is_return_address, stack, &out);
}
