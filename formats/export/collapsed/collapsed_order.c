/* SPDX-License-Identifier: MIT */
/*
 * Sorts lines without writing them: with deep stacks, the text of the lines is a hundred times the
 * size of the tree. Siblings are sorted by their text behind the common prefix; then the tree is
 * walked.
 *
 * A node has up to two entries: the line ending here, and the lines continuing below. "main",
 * "main.cold;x" and "main;x" sort in this order, so the two entries of "main" compare as "main" and
 * "main;".
 */
#include "export/collapsed/collapsed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    uint32_t node;
    uint32_t rank; /* of the text among all texts */
    bool goes_on;  /* entry of the lines below, instead of the line ending here */
};

struct text {
    const char *name;
    uint32_t id; /* of the name */
};

struct ranks {
    uint32_t *of; /* by 2 * name id, + 1 for continuing lines */
    uint32_t next;
    /* Names without a rank for their continuing lines yet; each is a prefix of the next. */
    struct text *open;
    size_t open_count;
};

struct walk {
    const struct name_node *nodes;
    size_t node_count;
    struct entry *entries; /* group by group, each sorted by text */
    size_t *first;         /* start by group, and the end of the last group */
    size_t *position;      /* by depth: the entry being walked */
};

static int by_text(const void *a, const void *b)
{
    const struct text *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* "main.cold", with all lines below, precedes "main;". Names have no ';'. */
static bool is_before_going_on(const char *name, const char *open)
{
    size_t length = strlen(open);
    return strncmp(name, open, length) == 0 && (unsigned char)name[length] < ';';
}

/* Ranks the continuing lines of the open names that sort before this name; NULL: of all open
 * names. */
static void rank_going_on(struct ranks *ranks, const char *name)
{
    for (; ranks->open_count; ranks->open_count--) {
        const struct text *open = &ranks->open[ranks->open_count - 1];
        if (name && is_before_going_on(name, open->name))
            return;
        ranks->of[2 * (size_t)open->id + 1] = ranks->next++;
    }
}

static void rank_names(struct ranks *ranks, const struct text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rank_going_on(ranks, texts[i].name);
        ranks->of[2 * (size_t)texts[i].id] = ranks->next++;
        ranks->open[ranks->open_count++] = texts[i];
    }
    rank_going_on(ranks, NULL);
}

/* The only comparison of texts: nodes far outnumber names. NULL: out of memory. */
static uint32_t *rank_texts(const struct intern *names)
{
    size_t count = intern_count(names);
    struct text *texts = calloc(count + 1, sizeof(*texts));
    struct ranks ranks = {.of = calloc(2 * count + 1, sizeof(*ranks.of)),
                          .open = calloc(count + 1, sizeof(*ranks.open))};
    if (texts && ranks.of && ranks.open) {
        for (uint32_t i = 0; i < count; i++)
            texts[i] = (struct text){intern_string(names, i), i};
        qsort(texts, count, sizeof(*texts), by_text);
        rank_names(&ranks, texts, count);
    } else {
        free(ranks.of);
        ranks.of = NULL;
    }
    free(texts);
    free(ranks.open);
    return ranks.of;
}

static int compare(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* The siblings among a node's children. */
static size_t group_below(uint32_t node)
{
    return node == NODE_NONE ? 0 : (size_t)node + 1;
}

static bool has_line(const struct name_node *node)
{
    return node->weight != 0 || node->base != 0;
}

/* How many entries each group has, two places further on. Children come behind their parents. */
static void count_entries(struct walk *walk)
{
    size_t *count = walk->first + 2;
    for (uint32_t i = (uint32_t)walk->node_count; i-- > 0;)
        count[group_below(walk->nodes[i].parent)] +=
            (size_t)has_line(&walk->nodes[i]) + (count[group_below(i)] != 0);
}

/* Counting sort. first[group + 1] is the next place of the group, and finally the start of the
 * next group. Nodes go before their children, as long as the children's group has its full size. */
static void list_entries(struct walk *walk, const uint32_t *ranks)
{
    count_entries(walk);
    for (size_t i = 2; i <= walk->node_count + 2; i++)
        walk->first[i] += walk->first[i - 1];
    for (uint32_t i = 0; i < walk->node_count; i++) {
        const struct name_node *node = &walk->nodes[i];
        const size_t *below = &walk->first[group_below(i) + 1];
        size_t *next = &walk->first[group_below(node->parent) + 1];
        const uint32_t *rank = &ranks[2 * (size_t)node->name];
        if (has_line(node))
            walk->entries[(*next)++] = (struct entry){.node = i, .rank = rank[0]};
        if (below[0] != below[1])
            walk->entries[(*next)++] = (struct entry){.node = i, .rank = rank[1], .goes_on = true};
    }
}

static void sort_groups(struct walk *walk)
{
    for (size_t group = 0; group <= walk->node_count; group++) {
        size_t first = walk->first[group], count = walk->first[group + 1] - first;
        if (count > 1)
            qsort(walk->entries + first, count, sizeof(*walk->entries), compare);
    }
}

/* Depth first, without recursion: stacks from a damaged file may be very deep. */
static size_t walk_lines(struct walk *walk, uint32_t *order)
{
    size_t count = 0;
    size_t depth = 0;
    for (;;) {
        size_t at = walk->position[depth];
        uint32_t parent = depth ? walk->entries[walk->position[depth - 1]].node : NODE_NONE;
        if (at == walk->first[group_below(parent) + 1]) {
            if (depth == 0)
                return count;
            walk->position[--depth]++;
        } else if (walk->entries[at].goes_on) {
            walk->position[++depth] = walk->first[group_below(walk->entries[at].node)];
        } else {
            order[count++] = walk->entries[at].node;
            walk->position[depth]++;
        }
    }
}

int collapsed_order(const struct name_node *nodes, size_t node_count, const struct intern *names,
                    uint32_t *order, size_t *count)
{
    struct walk walk = {
        .nodes = nodes,
        .node_count = node_count,
        .entries = calloc(2 * node_count + 1, sizeof(*walk.entries)),
        .first = calloc(node_count + 3, sizeof(*walk.first)),
        .position = calloc(node_count + 2, sizeof(*walk.position)),
    };
    uint32_t *ranks = rank_texts(names);
    int err = -ENOMEM;
    if (!walk.entries || !walk.first || !walk.position || !ranks)
        goto out;
    list_entries(&walk, ranks);
    sort_groups(&walk);
    *count = walk_lines(&walk, order);
    err = 0;
out:
    free(ranks);
    free(walk.entries);
    free(walk.first);
    free(walk.position);
    return err;
}
