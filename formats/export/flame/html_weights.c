/* SPDX-License-Identifier: MIT */
#include "export/flame/html_weights.h"

#include "export/encoding/json.h"

#include <string.h>

void html_write_weights(struct buffer *out, const struct call_tree *tree, const uint64_t *weights)
{
    uint32_t last = 1;
    json_key(out, "nodes");
    json_open(out, '[');
    for (uint32_t i = 1; i < tree->node_count; i++)
        if (weights[i]) {
            json_unsigned(out, i - last);
            last = i;
        }
    json_close(out, ']');
    json_key(out, "weights");
    json_open(out, '[');
    for (uint32_t i = 1; i < tree->node_count; i++)
        if (weights[i])
            json_unsigned(out, weights[i]);
    json_close(out, ']');
}

static void write_before(struct buffer *out, const struct call_tree *tree,
                         const struct export_diff *diff, uint64_t *weights)
{
    const struct profile *profile = tree->profile;
    memset(weights, 0, tree->node_count * sizeof(*weights));
    for (size_t i = 0; i < profile->list_count; i++)
        if (profile->lists[i].event == profile->main_event &&
            export_is_base(diff, profile->lists[i].thread))
            call_tree_add_list(tree, &profile->lists[i], weights);
    json_key(out, "before");
    json_open(out, '{');
    html_write_weights(out, tree, weights);
    json_close(out, '}');
}

static void write_removed(struct buffer *out, const struct export_diff *diff)
{
    json_key(out, "removed");
    json_open(out, '[');
    for (size_t i = 0; i < diff->removed_count; i++) {
        json_open(out, '{');
        json_member_string(out, "name", diff->removed[i].name);
        json_member_string(out, "module", diff->removed[i].module);
        json_member_unsigned(out, "weight", (uint64_t)diff->removed[i].weight);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void html_write_diff(struct buffer *out, const struct call_tree *tree,
                     const struct export_diff *diff, const uint32_t *funcs, uint32_t func_count,
                     uint64_t *weights)
{
    json_key(out, "diff");
    json_open(out, '{');
    json_member_unsigned(out, "base_runs", diff->base_runs);
    json_member_unsigned(out, "new_runs", diff->new_runs);
    json_member_bool(out, "of_total", diff->of_total);
    json_key(out, "changes");
    json_open(out, '[');
    for (uint32_t i = 0; i < func_count; i++)
        json_unsigned(out, diff->changes[funcs[i]]);
    json_close(out, ']');
    write_before(out, tree, diff, weights);
    write_removed(out, diff);
    json_close(out, '}');
}
