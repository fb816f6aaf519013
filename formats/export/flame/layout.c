/* SPDX-License-Identifier: MIT */
#include "export/flame/layout.h"

#include <stdlib.h>

static void add_lists(const struct call_tree *tree, uint32_t first_thread, uint32_t end_thread,
                      uint64_t *weights)
{
    const struct profile *profile = tree->profile;
    for (size_t i = 0; i < profile->list_count; i++) {
        const struct profile_list *list = &profile->lists[i];
        if (list->event == profile->main_event && list->thread >= first_thread &&
            list->thread < end_thread)
            call_tree_add_list(tree, list, weights);
    }
}

static void add_weights(const struct call_tree *tree, struct flame_node *nodes,
                        const uint64_t *weights)
{
    for (uint32_t i = tree->node_count; i-- > 0;) {
        struct flame_node *node = &nodes[i];
        node->first_child = node->next_sibling = PROFILE_NONE;
        node->self = weights[i];
        node->total += weights[i];
        if (i != CALL_TREE_ROOT)
            nodes[tree->nodes[i].parent].total += node->total;
    }
}

static int by_total(const void *a, const void *b, void *context)
{
    const struct flame_node *nodes = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (nodes[left].total != nodes[right].total)
        return nodes[left].total < nodes[right].total ? -1 : 1;
    return left > right ? -1 : left < right;
}

/* Inserts nodes by increasing total at the head of the sibling list: lists decrease. */
static void link_children(const struct call_tree *tree, struct flame_node *nodes, uint32_t *order)
{
    for (uint32_t i = 0; i < tree->node_count; i++)
        order[i] = i;
    qsort_r(order, tree->node_count, sizeof(*order), by_total, nodes);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (order[i] == CALL_TREE_ROOT)
            continue;
        struct flame_node *parent = &nodes[tree->nodes[order[i]].parent];
        nodes[order[i]].next_sibling = parent->first_child;
        parent->first_child = order[i];
    }
}

/* Parents have smaller indices than their children, so a single pass suffices. */
static void place_children(const struct call_tree *tree, struct flame_node *nodes)
{
    for (uint32_t i = 0; i < tree->node_count; i++) {
        uint64_t start = nodes[i].start;
        for (uint32_t at = nodes[i].first_child; at != PROFILE_NONE; at = nodes[at].next_sibling) {
            nodes[at].start = start;
            nodes[at].depth = nodes[i].depth + 1;
            start += nodes[at].total;
        }
    }
}

struct flame_node *flame_layout(const struct call_tree *tree, uint32_t first_thread,
                                uint32_t end_thread)
{
    struct flame_node *nodes = calloc(tree->node_count, sizeof(*nodes));
    uint64_t *weights = calloc(tree->node_count, sizeof(*weights));
    uint32_t *order = calloc(tree->node_count, sizeof(*order));
    if (nodes && weights && order) {
        add_lists(tree, first_thread, end_thread, weights);
        add_weights(tree, nodes, weights);
        link_children(tree, nodes, order);
        place_children(tree, nodes);
    } else {
        free(nodes);
        nodes = NULL;
    }
    free(weights);
    free(order);
    return nodes;
}
