/* SPDX-License-Identifier: MIT */
#include "export/flame/call_tree.h"

#include "export/common.h"
#include "profile/waits.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void call_tree_free(struct call_tree *tree)
{
    free(tree->frames);
    free(tree->nodes);
    free(tree->node_of_stack);
    *tree = (struct call_tree){0};
}

/* same[func]: func, or for an unnamed function the first unnamed function of the lib. */
static uint32_t *merge_unknown(const struct profile *profile)
{
    uint32_t *same = calloc(profile->func_count + 1, sizeof(*same));
    /* By lib; the last element is for functions without a lib. 0: none, else plus 1. */
    uint32_t *first = calloc(profile->lib_count + 1, sizeof(*first));
    for (uint32_t i = 0; same && first && i < profile->func_count; i++) {
        uint32_t lib = profile->funcs[i].lib;
        uint32_t *unknown = &first[lib == PROFILE_NONE ? profile->lib_count : lib];
        same[i] = i;
        if (!export_func_is_unknown(profile, i))
            continue;
        if (*unknown)
            same[i] = *unknown - 1;
        else
            *unknown = i + 1;
    }
    if (!first) {
        free(same);
        same = NULL;
    }
    free(first);
    return same;
}

/* rows[frame of the profile]: index of an equal struct call_frame. */
static int build_frames(struct call_tree *tree, struct intern *frames, uint32_t *rows)
{
    const struct profile *profile = tree->profile;
    uint32_t *same = merge_unknown(profile);
    for (size_t i = 0; same && i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        const unsigned kind =
            wait_reason_is_lib(profile, frame->lib) ? CALL_OFF_CPU : frame->category;
        const uint32_t key[3] = {same[frame->func], kind, frame->inline_depth > 0};
        rows[i] = intern_add(frames, key, sizeof(key));
        if (rows[i] == INTERN_NONE) {
            free(same);
            return -ENOMEM;
        }
        tree->frames[rows[i]] = (struct call_frame){key[0], kind, key[2] != 0};
    }
    tree->frame_count = intern_count(frames);
    int err = same ? 0 : -ENOMEM;
    free(same);
    return err;
}

static int build_nodes(struct call_tree *tree, struct intern *nodes, const uint32_t *rows)
{
    const struct profile *profile = tree->profile;
    const struct call_node root = {PROFILE_NONE, PROFILE_NONE};
    if (intern_add(nodes, &root, sizeof(root)) != CALL_TREE_ROOT)
        return -ENOMEM;
    tree->nodes[CALL_TREE_ROOT] = root;
    for (size_t i = 0; i < profile->stack_count; i++) {
        const struct profile_stack *stack = &profile->stacks[i];
        bool is_outermost = stack->parent == PROFILE_NONE;
        const struct call_node key = {.parent = is_outermost ? CALL_TREE_ROOT
                                                             : tree->node_of_stack[stack->parent],
                                      .frame = rows[stack->frame]};
        uint32_t node = intern_add(nodes, &key, sizeof(key));
        if (node == INTERN_NONE)
            return -ENOMEM;
        tree->nodes[node] = key;
        tree->node_of_stack[i] = node;
    }
    tree->node_count = intern_count(nodes);
    return 0;
}

int call_tree_build(struct call_tree *tree, const struct profile *profile)
{
    *tree = (struct call_tree){
        .profile = profile,
        .frames = calloc(profile->frame_count + 1, sizeof(*tree->frames)),
        .nodes = calloc(profile->stack_count + 1, sizeof(*tree->nodes)),
        .node_of_stack = calloc(profile->stack_count + 1, sizeof(*tree->node_of_stack)),
    };
    struct intern *frames = intern_new(), *nodes = intern_new();
    uint32_t *rows = calloc(profile->frame_count + 1, sizeof(*rows));
    int err = -ENOMEM;
    if (tree->frames && tree->nodes && tree->node_of_stack && frames && nodes && rows)
        err = build_frames(tree, frames, rows);
    if (!err)
        err = build_nodes(tree, nodes, rows);
    intern_free(frames);
    intern_free(nodes);
    free(rows);
    return err;
}

void call_tree_add_list(const struct call_tree *tree, const struct profile_list *list,
                        uint64_t *weights)
{
    struct sample_reader reader = profile_read_list(list);
    while (sample_reader_next(&reader)) {
        uint32_t stack = profile_stack_of(tree->profile, reader.sample.call);
        weights[stack == PROFILE_NONE ? CALL_TREE_ROOT : tree->node_of_stack[stack]] +=
            reader.sample.weight;
    }
}
