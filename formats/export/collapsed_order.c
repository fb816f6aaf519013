/* SPDX-License-Identifier: MIT */
/*
 * Sorting without spelling out the lines: with deep stacks their text is a hundred times the size
 * of the tree. Siblings are sorted by what follows their common prefix in the text, then the tree
 * is walked.
 *
 * A node can stand for two things there: the line that ends with it, and the lines that go on below
 * it. "main", "main.cold;x" and "main;x" sort in this order, so they are two entries, compared as
 * "main" and "main;".
 */
#include "export/collapsed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct entry {
    uint32_t parent;
    uint32_t node;
    uint32_t rank; /* of its text among all texts */
    bool goes_on;  /* stands for the lines below, not for the one that ends here */
};

struct text { /* a name as the text goes on behind it */
    const unsigned char *name;
    uint32_t id; /* of the name, twice, and one more when lines go on */
};

struct walk {
    struct entry *entries; /* sorted by parent, then text */
    size_t entry_count;
    size_t *first;    /* by node: its children in entries; processes are at [node_count] */
    size_t *position; /* by depth: the entry being walked */
};

static int by_text(const void *a, const void *b)
{
    const struct text *left = a;
    const struct text *right = b;
    const unsigned char *l = left->name;
    const unsigned char *r = right->name;
    while (*l && *l == *r) {
        l++;
        r++;
    }
    int l_byte = *l ? *l : left->id & 1 ? ';' : 0;
    int r_byte = *r ? *r : right->id & 1 ? ';' : 0;
    return l_byte - r_byte;
}

/* There are many more nodes than names: texts are compared here and nowhere else. By text id; NULL: out
 * of memory. */
static uint32_t *rank_texts(const struct intern *names)
{
    size_t count = (size_t)intern_count(names) * 2;
    struct text *texts = calloc(count + 1, sizeof(*texts));
    uint32_t *ranks = calloc(count + 1, sizeof(*ranks));
    if (texts && ranks) {
        for (uint32_t i = 0; i < count; i++)
            texts[i] = (struct text){intern_bytes(names, i / 2, NULL), i};
        qsort(texts, count, sizeof(*texts), by_text);
        for (uint32_t i = 0; i < count; i++)
            ranks[texts[i].id] = i;
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(texts);
    return ranks;
}

static int compare(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;
    if (left->parent != right->parent)
        return left->parent < right->parent ? -1 : 1;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static void list_entries(struct walk *walk, const struct name_node *nodes, size_t node_count,
                         const uint32_t *ranks)
{
    size_t *has_children = walk->first; /* zeroed, and not needed before index_entries() */
    for (size_t i = 0; i < node_count; i++) {
        if (nodes[i].parent != NODE_NONE)
            has_children[nodes[i].parent] = 1;
    }
    for (size_t i = 0; i < node_count; i++) {
        struct entry entry = {.parent = nodes[i].parent,
                              .node = (uint32_t)i,
                              .rank = ranks[2 * (size_t)nodes[i].name]};
        if (nodes[i].weight)
            walk->entries[walk->entry_count++] = entry;
        entry.goes_on = true;
        entry.rank = ranks[2 * (size_t)nodes[i].name + 1];
        if (has_children[i])
            walk->entries[walk->entry_count++] = entry;
    }
}

/* NODE_NONE is the largest parent: processes come last. */
static void index_entries(struct walk *walk, size_t node_count)
{
    size_t at = 0;
    for (size_t i = 0; i < node_count; i++) {
        walk->first[i] = at;
        while (at < walk->entry_count && walk->entries[at].parent == i)
            at++;
    }
    walk->first[node_count] = at;
}

/* Depth first, without recursion: stacks from a damaged file may be very deep. */
static size_t walk_lines(struct walk *walk, size_t node_count, uint32_t *order)
{
    size_t count = 0;
    size_t depth = 0;
    walk->position[0] = walk->first[node_count];
    for (;;) {
        size_t at = walk->position[depth];
        uint32_t parent = depth ? walk->entries[walk->position[depth - 1]].node : NODE_NONE;
        if (at == walk->entry_count || walk->entries[at].parent != parent) {
            if (depth == 0)
                return count;
            walk->position[--depth]++;
        } else if (walk->entries[at].goes_on) {
            walk->position[++depth] = walk->first[walk->entries[at].node];
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
        .entries = calloc(2 * node_count + 1, sizeof(*walk.entries)),
        .first = calloc(node_count + 1, sizeof(*walk.first)),
        .position = calloc(node_count + 2, sizeof(*walk.position)),
    };
    uint32_t *ranks = rank_texts(names);
    int err = -ENOMEM;
    if (!walk.entries || !walk.first || !walk.position || !ranks)
        goto out;
    list_entries(&walk, nodes, node_count, ranks);
    qsort(walk.entries, walk.entry_count, sizeof(*walk.entries), compare);
    index_entries(&walk, node_count);
    *count = walk_lines(&walk, node_count, order);
    err = 0;
out:
    free(ranks);
    free(walk.entries);
    free(walk.first);
    free(walk.position);
    return err;
}
