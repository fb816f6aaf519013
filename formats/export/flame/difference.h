/* SPDX-License-Identifier: MIT */
/*
 * A flame graph of two sides: the shape of the new side, with the base's weights for each node. A
 * node has changed if the function has (export_diff.changes) and the node's own weight has.
 */
#pragma once

#include "export/export.h"
#include "export/flame/layout.h"

enum flame_shift { FLAME_SAME, FLAME_GROWN, FLAME_SHRUNK, FLAME_NEW, FLAME_SHIFTS };

struct flame_difference {
    const struct export_diff *diff; /* NULL: none */
    const struct call_tree *tree;   /* borrowed */
    struct flame_node *base;        /* by node of the tree */
    struct flame_node *nodes;       /* of the new side; of all threads without a diff */
};

/* diff NULL: a profile of one side. 0 or -ENOMEM. Close in both cases. */
int flame_difference_open(struct flame_difference *difference, const struct call_tree *tree,
                          const struct export_diff *diff);
void flame_difference_close(struct flame_difference *difference);

enum flame_shift flame_shift_of(const struct flame_difference *difference, uint32_t node);

/* Weight of a node on a side, with or without callees as the changes are. */
uint64_t flame_weight_of(const struct flame_difference *difference, uint32_t node, bool is_base);

extern const char *const flame_shift_names[FLAME_SHIFTS];
