/* SPDX-License-Identifier: MIT */
#include "cli/report/report.h"

#include "cli/terminal/ellipsize.h"
#include "cli/terminal/format.h"

enum {
    TREE_LINES = 45, /* with the functions: a screen and a half */
    CHAIN_SHOWN = 6, /* longer chains of calls without a branch are shortened */
    INDENT_MAX = 40,
};

struct tree {
    const struct report *report;
    uint64_t least; /* smaller calls are left out */
    unsigned columns;
    size_t lines;
    struct buffer text;
};

static const struct report_node *node_at(const struct tree *tree, uint32_t node)
{
    return &tree->report->nodes[node];
}

/* Children are sorted by total: below the limit, no later child is shown either. */
static uint32_t first_shown(const struct tree *tree, uint32_t node)
{
    uint32_t child = node_at(tree, node)->first_child;
    bool is_shown = child != PROFILE_NONE && node_at(tree, child)->total >= tree->least;
    return is_shown ? child : PROFILE_NONE;
}

static uint32_t next_shown(const struct tree *tree, uint32_t node)
{
    uint32_t next = node_at(tree, node)->next_sibling;
    bool is_shown = next != PROFILE_NONE && node_at(tree, next)->total >= tree->least;
    return is_shown ? next : PROFILE_NONE;
}

/* The single call out of this node, if less than 5 % of the time of the node is elsewhere. */
static uint32_t only_call(const struct tree *tree, uint32_t node)
{
    uint32_t child = first_shown(tree, node);
    if (child == PROFILE_NONE || next_shown(tree, child) != PROFILE_NONE)
        return PROFILE_NONE;
    uint64_t total = node_at(tree, node)->total;
    return node_at(tree, child)->total >= total - total / 20 ? child : PROFILE_NONE;
}

static void append_line(struct tree *tree, uint32_t node, unsigned indent)
{
    const struct profile *profile = tree->report->profile;
    unsigned room = tree->columns > 9 + indent + 20 ? tree->columns - 9 - indent : 20;
    char name[2048];
    uint32_t func = node_at(tree, node)->func;
    ellipsize_name(name, sizeof(name), report_name(profile, func), room);
    buffer_printf(&tree->text, "%7s  %*s%s\n",
                  format_percent(node_at(tree, node)->total, tree->report->total).text, (int)indent,
                  "", name);
    tree->lines++;
}

static unsigned deeper(unsigned indent)
{
    return indent < INDENT_MAX ? indent + 2 : indent;
}

/* A node and the calls below. Of a long chain of single calls, the first two and last two are
 * shown. Recurses only where calls branch: at most 100 / REPORT_TREE_PERCENT levels. */
static void append_calls(struct tree *tree, uint32_t node, unsigned indent)
{
    size_t length = 1;
    for (uint32_t at = node; (at = only_call(tree, at)) != PROFILE_NONE;)
        length++;
    for (size_t i = 0;; i++) {
        bool is_hidden = length > CHAIN_SHOWN && i >= 2 && i + 2 < length;
        if (is_hidden && i == 2) {
            buffer_printf(&tree->text, "%9s%*s… %zu calls …\n", "", (int)indent, "", length - 4);
            tree->lines++;
            indent = deeper(indent);
        } else if (!is_hidden) {
            append_line(tree, node, indent);
            indent = deeper(indent);
        }
        uint32_t next = only_call(tree, node);
        if (next == PROFILE_NONE)
            break;
        node = next;
    }
    for (uint32_t child = first_shown(tree, node); child != PROFILE_NONE;
         child = next_shown(tree, child))
        append_calls(tree, child, indent);
}

static void append_tree(struct tree *tree, double percent)
{
    buffer_clear(&tree->text);
    tree->lines = 0;
    tree->least = (uint64_t)((double)tree->report->total * percent / 100) + 1;
    for (uint32_t child = first_shown(tree, 0); child != PROFILE_NONE;
         child = next_shown(tree, child))
        append_calls(tree, child, 0);
}

double report_tree_write(const struct report *report, const struct report_style *style,
                         struct buffer *out)
{
    static const double percents[] = {REPORT_TREE_PERCENT, 3, 5, 10, 20};
    struct tree tree = {.report = report, .columns = style->columns};
    double used = style->least_percent;
    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        if (!style->has_limit)
            used = percents[i];
        append_tree(&tree, used);
        if (style->has_limit || tree.lines <= TREE_LINES)
            break;
    }
    buffer_append(out, tree.text.bytes, tree.text.size);
    buffer_free(&tree.text);
    return used;
}
