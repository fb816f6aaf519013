/* SPDX-License-Identifier: MIT */
/* Weights by node in the page's data: of a list of samples, and of the base of a difference. */
#pragma once

#include "export/export.h"
#include "export/flame/call_tree.h"

/* Members "nodes" (the first as its index, then distances) and "weights", of nodes with weight. The
 * root is not counted as a node. */
void html_write_weights(struct buffer *out, const struct call_tree *tree, const uint64_t *weights);

/* funcs: functions of the file, as indices of the profile. weights: scratch, by node. */
void html_write_diff(struct buffer *out, const struct call_tree *tree,
                     const struct export_diff *diff, const uint32_t *funcs, uint32_t func_count,
                     uint64_t *weights);
