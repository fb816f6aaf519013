/* SPDX-License-Identifier: MIT */
/*
 * Private to the collapsed exporter.
 *
 *     collapsed.c        samples ──▶ tree of names, with weights
 *     collapsed_order.c  the tree's stacks in the order of their lines' text
 */
#pragma once

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define NODE_NONE UINT32_MAX

/* One name below another; addresses no longer count. A parent comes before its children. The first two
 * are its key. */
struct name_node {
    uint32_t parent; /* NODE_NONE: this is a process */
    uint32_t name;   /* id in names */
    uint64_t weight; /* of the samples whose stack ends here */
};

/* Writes the nodes that have weight into order[] (room for all), sorted by the bytes of the lines
 * that they will be, and their number into *count. 0 or -ENOMEM. */
int collapsed_order(const struct name_node *nodes, size_t node_count, const struct intern *names,
                    uint32_t *order, size_t *count);
