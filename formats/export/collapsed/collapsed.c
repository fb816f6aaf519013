/* SPDX-License-Identifier: MIT */
/*
 * Collapsed stacks: "process;root;…;leaf COUNT", a line for each stack, sorted; the input of
 * flamegraph.pl and many other tools. Threads, and processes with the same name, are added up. With
 * threads apart, a line starts with "process-PID;thread-TID;", and a second process with the pid is
 * "process-PID.1".
 *
 * A count is weight / nominal period, a number of samples; of off-CPU and wall time microseconds,
 * as in other tools' off-CPU flame graphs. Counts are integers, and their sum is
 * the rounded total: each line gets the integer part of its share, and the largest fractions get
 * the rest. Lines with a count of 0 are left out; the sum still includes their weight.
 *
 * A comparison has two counts, of the base and of the new side: "main;work 12 15", the input of
 * differential flame graphs by flamegraph.pl.
 */
#include "export/collapsed/collapsed.h"

#include "base/containers/array.h"
#include "base/containers/prefix_table.h"
#include "base/containers/sort.h"
#include "base/text/decimal.h"
#include "export/common.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

struct line {
    uint64_t count;
    uint64_t missing; /* period less the fraction of its share */
    size_t at;        /* in the order of the output */
};

struct known { /* the node of a stack of the model, and the task of that node */
    uint32_t task;
    uint32_t node; /* plus one; 0: none yet */
};

struct collapsed {
    const struct profile *profile;
    const struct export_diff *diff; /* NULL: none */
    struct buffer *out;
    struct collapsed_names names;
    struct prefix_table node_index;
    struct name_node *nodes;
    size_t node_count, node_capacity;
    struct known *known; /* by stack of the model */
    uint32_t *path;      /* scratch, as is the next: stacks, and their names */
    uint32_t *path_names;
    bool failed;
};

static uint32_t path_hash(const struct collapsed *collapsed, uint32_t node)
{
    return node == NODE_NONE ? 0 : collapsed->nodes[node].path_hash;
}

static uint32_t node_of(struct collapsed *collapsed, uint32_t parent, uint32_t name)
{
    const struct prefix_key key = {parent, name,
                                   prefix_path_hash(path_hash(collapsed, parent), name)};
    uint32_t id = prefix_table_find_or_add(&collapsed->node_index, collapsed->nodes,
                                           sizeof(*collapsed->nodes), collapsed->node_count, key);
    if (id < collapsed->node_count)
        return id;
    struct name_node *node =
        id == PREFIX_TABLE_NONE
            ? NULL
            : ARRAY_PUSH(collapsed->nodes, collapsed->node_count, collapsed->node_capacity);
    if (!node) {
        collapsed->failed = true;
        return NODE_NONE;
    }
    *node = (struct name_node){.parent = parent, .name = name, .path_hash = key.hash};
    return id;
}

static uint32_t name_of(const struct collapsed *collapsed, uint32_t stack)
{
    return collapsed->names.frames[collapsed->profile->stacks[stack].frame];
}

/* Finds or adds the node of a stack below a task. Climbs to the first stack with a cached node,
 * then descends. The cache has a single task per stack: threads are added one after the other. */
static uint32_t stack_node(struct collapsed *collapsed, uint32_t task, uint32_t stack)
{
    const struct profile_stack *stacks = collapsed->profile->stacks;
    uint32_t node = task;
    size_t depth = 0;
    for (; stack != PROFILE_NONE; stack = stacks[stack].parent) {
        struct known known = collapsed->known[stack];
        if (known.node != 0 && known.task == task) {
            node = known.node - 1;
            break;
        }
        collapsed->path[depth] = stack;
        collapsed->path_names[depth++] = name_of(collapsed, stack);
    }
    prefix_table_prefetch_path(&collapsed->node_index, collapsed->nodes, sizeof(*collapsed->nodes),
                               path_hash(collapsed, node), collapsed->path_names, depth);
    while (depth > 0 && !collapsed->failed) {
        uint32_t next = collapsed->path[--depth];
        node = node_of(collapsed, node, collapsed->path_names[depth]);
        collapsed->known[next] = (struct known){task, node + 1};
    }
    return node;
}

/* The first nodes of the thread's stacks: process, and thread if threads are apart. */
static uint32_t task_node(struct collapsed *collapsed, uint32_t thread)
{
    uint32_t process = collapsed->profile->threads[thread].process;
    uint32_t node = node_of(collapsed, NODE_NONE, collapsed->names.processes[process]);
    const uint32_t *threads = collapsed->names.threads;
    return threads ? node_of(collapsed, node, threads[thread]) : node;
}

static void add_thread(struct collapsed *collapsed, uint32_t thread)
{
    const struct profile *profile = collapsed->profile;
    struct profile_walk walk = profile_walk_of(profile, thread, profile->main_event);
    bool is_base = export_is_base(collapsed->diff, thread);
    uint32_t task = NODE_NONE; /* added with the first sample: no line for threads without
                                * samples */
    for (const struct profile_sample *sample;
         !collapsed->failed && (sample = profile_walk_next(&walk));) {
        if (task == NODE_NONE)
            task = task_node(collapsed, thread);
        uint32_t node = stack_node(collapsed, task, sample->stack);
        if (!collapsed->failed && is_base)
            collapsed->nodes[node].base += sample->weight;
        else if (!collapsed->failed)
            collapsed->nodes[node].weight += sample->weight;
    }
}

static void build_tree(struct collapsed *collapsed)
{
    for (uint32_t i = 0; i < collapsed->profile->thread_count; i++)
        add_thread(collapsed, i);
}

/* A recording with any weight has a total of at least 1: the file is not empty. */
static int share_out_counts(struct line *lines, size_t count, uint64_t total, uint64_t period)
{
    uint64_t left = total / period + (total % period >= period - period / 2);
    if (left == 0 && total)
        left = 1;
    for (size_t i = 0; i < count; i++)
        left -= lines[i].count;
    int err = SORT_BY(lines, count, missing);
    for (size_t i = 0; i < count && left > 0; i++, left--)
        lines[i].count++;
    return err ? err : SORT_BY(lines, count, at);
}

static void write_line(struct collapsed *collapsed, uint32_t node, const struct line *base,
                       const struct line *line)
{
    size_t depth = 0;
    for (; node != NODE_NONE; node = collapsed->nodes[node].parent)
        collapsed->path_names[depth++] = collapsed->nodes[node].name;
    while (depth > 0) {
        size_t size;
        const void *name =
            intern_bytes(collapsed->names.texts, collapsed->path_names[--depth], &size);
        buffer_append(collapsed->out, name, size + 1); /* with the NUL, replaced below */
        if (!collapsed->out->failed)
            collapsed->out->bytes[collapsed->out->size - 1] = depth ? ';' : ' ';
    }
    if (base) {
        decimal_append(collapsed->out, base->count);
        buffer_append(collapsed->out, " ", 1);
    }
    decimal_append(collapsed->out, line->count);
    buffer_append(collapsed->out, "\n", 1);
}

/* Weight of a count. */
static uint64_t period_of(const struct profile *profile)
{
    enum { MICROSECOND_NS = 1000 };
    struct profile_event event = profile_main_event(profile);
    return event.is_off_cpu || event.is_wall ? MICROSECOND_NS
                                             : export_period(profile, profile->main_event);
}

/* The counts of the lines, of one side; NULL: out of memory. */
static struct line *count_lines(const struct collapsed *collapsed, const uint32_t *order,
                                size_t count, bool is_base)
{
    uint64_t period = period_of(collapsed->profile);
    uint64_t total = 0;
    struct line *lines = calloc(count + 1, sizeof(*lines));
    for (size_t i = 0; lines && i < count; i++) {
        const struct name_node *node = &collapsed->nodes[order[i]];
        uint64_t weight = is_base ? node->base : node->weight;
        lines[i] = (struct line){weight / period, period - weight % period, i};
        total += weight;
    }
    if (lines && count && share_out_counts(lines, count, total, period) != 0) {
        free(lines);
        lines = NULL;
    }
    return lines;
}

static int write_lines(struct collapsed *collapsed)
{
    uint32_t *order = calloc(collapsed->node_count + 1, sizeof(*order));
    struct line *lines = NULL, *base = NULL;
    size_t count = 0;
    int err = order ? collapsed_order(collapsed->nodes, collapsed->node_count,
                                      collapsed->names.texts, order, &count)
                    : -ENOMEM;
    if (err == 0)
        lines = count_lines(collapsed, order, count, false);
    if (err == 0 && collapsed->diff)
        base = count_lines(collapsed, order, count, true);
    if (!lines || (collapsed->diff && !base))
        err = -ENOMEM;
    for (size_t i = 0; i < count && err == 0; i++)
        if (lines[i].count || (base && base[i].count))
            write_line(collapsed, order[i], base ? &base[i] : NULL, &lines[i]);
    free(order);
    free(lines);
    free(base);
    return err;
}

static int collapsed_open(struct collapsed *collapsed, const struct export_options *options)
{
    const struct profile *profile = collapsed->profile;
    collapsed->known = calloc(profile->stack_count + 1, sizeof(*collapsed->known));
    /* The longest path: all stacks, process and thread. */
    collapsed->path = calloc(profile->stack_count + 2, sizeof(*collapsed->path));
    collapsed->path_names = calloc(profile->stack_count + 2, sizeof(*collapsed->path_names));
    int err = collapsed_names_open(&collapsed->names, profile, options);
    return err != 0 || (collapsed->known && collapsed->path && collapsed->path_names) ? err
                                                                                      : -ENOMEM;
}

static void collapsed_close(struct collapsed *collapsed)
{
    collapsed_names_close(&collapsed->names);
    prefix_table_free(&collapsed->node_index);
    free(collapsed->nodes);
    free(collapsed->known);
    free(collapsed->path);
    free(collapsed->path_names);
}

static int collapsed_write(const struct profile *profile, const struct export_options *options,
                           struct buffer *out, struct error *error)
{
    struct collapsed collapsed = {
        .profile = profile, .out = out, .diff = options ? options->diff : NULL};
    int err = collapsed_open(&collapsed, options);
    if (err == 0)
        build_tree(&collapsed);
    if (err == 0 && !collapsed.failed)
        err = write_lines(&collapsed);
    if (collapsed.failed || out->failed)
        err = -ENOMEM;
    if (err != 0)
        error_set(error, err, "not enough memory to write collapsed stacks");
    collapsed_close(&collapsed);
    return err;
}

static const char *const suffixes[] = {".folded", ".collapsed", ".txt", NULL};

const struct exporter export_collapsed = {
    .name = "collapsed",
    .description = "collapsed stacks, for flamegraph.pl, speedscope and others",
    .suffixes = suffixes,
    .gzip_level = 1,
    .has_one_event = true,
    .has_diff = true,
    .write = collapsed_write,
};
