/* SPDX-License-Identifier: MIT */
/* The places of a call tree's nodes in a flame graph of the main event, in units of weight. */
#pragma once

#include "export/flame/call_tree.h"

struct flame_node {
    uint64_t self, total;
    uint64_t start;                     /* weight of all boxes on the left */
    uint32_t depth;                     /* the root: 0 */
    uint32_t first_child, next_sibling; /* PROFILE_NONE: end; by decreasing total */
};

/* Of the threads from first_thread on, below end_thread. By node of the tree; the caller frees the
 * array. NULL: out of memory. */
struct flame_node *flame_layout(const struct call_tree *tree, uint32_t first_thread,
                                uint32_t end_thread);
