/* SPDX-License-Identifier: MIT */
#include "export/flame/difference.h"

#include <errno.h>
#include <stdlib.h>

const char *const flame_shift_names[FLAME_SHIFTS] = {
    [FLAME_SAME] = "within noise",
    [FLAME_GROWN] = "grown",
    [FLAME_SHRUNK] = "shrunk",
    [FLAME_NEW] = "new",
};

int flame_difference_open(struct flame_difference *difference, const struct call_tree *tree,
                          const struct export_diff *diff)
{
    uint32_t first_new = diff ? diff->first_new_thread : 0;
    *difference = (struct flame_difference){.diff = diff, .tree = tree};
    difference->nodes = flame_layout(tree, first_new, UINT32_MAX);
    if (diff)
        difference->base = flame_layout(tree, 0, first_new);
    return difference->nodes && (difference->base || !diff) ? 0 : -ENOMEM;
}

void flame_difference_close(struct flame_difference *difference)
{
    free(difference->base);
    free(difference->nodes);
    *difference = (struct flame_difference){0};
}

uint64_t flame_weight_of(const struct flame_difference *difference, uint32_t node, bool is_base)
{
    const struct flame_node *side = is_base ? difference->base : difference->nodes;
    return difference->diff->of_total ? side[node].total : side[node].self;
}

enum flame_shift flame_shift_of(const struct flame_difference *difference, uint32_t node)
{
    const struct call_tree *tree = difference->tree;
    if (node == CALL_TREE_ROOT)
        return FLAME_SAME;
    uint8_t change = difference->diff->changes[tree->frames[tree->nodes[node].frame].func];
    uint64_t before = flame_weight_of(difference, node, true);
    uint64_t after = flame_weight_of(difference, node, false);
    if (change == EXPORT_SAME || before == after)
        return FLAME_SAME;
    if (change == EXPORT_ADDED)
        return FLAME_NEW;
    return after > before ? FLAME_GROWN : FLAME_SHRUNK;
}
