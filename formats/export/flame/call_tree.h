/* SPDX-License-Identifier: MIT */
/*
 * The call tree of a flame graph: stacks merged by function, from all addresses.
 *
 *     node ─▶ parent ─▶ … ─▶ CALL_TREE_ROOT       a parent has a smaller index than its children
 *       └───▶ frame ─▶ function, kind, inlined or not
 *
 * All unnamed functions of a lib are one function (export_func_name()). Recursion is not merged: a
 * flame graph shows each level.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum { CALL_TREE_ROOT = 0 }; /* has no frame */

enum { CALL_OFF_CPU = PROFILE_CATEGORIES, CALL_KINDS }; /* a reason of a wait (profile/waits.h) */

struct call_frame {
    uint32_t func; /* index in the profile; of unnamed functions the first of the lib */
    unsigned kind; /* enum profile_category, or CALL_OFF_CPU */
    bool is_inlined;
};

struct call_node {
    uint32_t parent; /* PROFILE_NONE: the root */
    uint32_t frame;  /* PROFILE_NONE: the root */
};

struct call_tree {
    const struct profile *profile; /* borrowed */
    struct call_frame *frames;
    uint32_t frame_count;
    struct call_node *nodes;
    uint32_t node_count;
    uint32_t *node_of_stack; /* by stack of the profile */
};

/* 0 or -ENOMEM. Free the tree in both cases. */
int call_tree_build(struct call_tree *tree, const struct profile *profile);
void call_tree_free(struct call_tree *tree);

/* Adds the weights of a list of samples to weights[node]. */
void call_tree_add_list(const struct call_tree *tree, const struct profile_list *list,
                        uint64_t *weights);
