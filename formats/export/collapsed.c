/* SPDX-License-Identifier: MIT */
/*
 * Collapsed stacks: "process;root;…;leaf COUNT", one line a stack, sorted, for flamegraph.pl and
 * many others. All threads, and all processes of one name, are added up; or none of them: then it is
 * "process-PID;thread-TID;root;…", and the second process of a pid is "process-PID.1".
 *
 * Counts are weight / nominal period, so that they read as samples, in whole numbers whose sum is
 * the rounded total: every line gets the whole part of its share, and what is then left over goes
 * to the largest fractions. A line left with 0 is not written; its weight is in the others.
 */
#include "export/collapsed.h"

#include "base/array.h"
#include "base/decimal.h"
#include "base/pairs.h"
#include "base/short_name.h"
#include "base/utf8.h"
#include "export/common.h"
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct line {
    uint64_t count;
    uint64_t rest; /* of the share, less than a period */
    size_t at;     /* in the order of the output */
};

struct walked { /* a stack of the model below a process's node; the two are its key */
    uint32_t process, stack;
    uint32_t node;
};

struct
    recent { /* the last answer about a stack of the model: most come again for the same process */
    uint32_t process;
    uint32_t node; /* plus one; 0: never asked for */
};

struct collapsed {
    const struct profile *profile;
    struct buffer *out;
    struct intern *names; /* escaped */
    struct pairs node_index;
    struct name_node *nodes;
    size_t node_count, node_capacity;
    struct pairs walked_index;
    struct walked *walked;
    size_t walked_count, walked_capacity;
    struct recent *recent;   /* by stack of the model */
    uint32_t *func_names;    /* by func of the model */
    uint32_t *frame_names;   /* by frame of the model */
    uint32_t *process_names; /* by process of the model */
    uint32_t *thread_names;  /* by thread of the model; NULL: they are added up */
    uint32_t *path;          /* scratch */
    struct buffer raw, clean;
    struct export_options options;
    bool failed;
};

/*
 * A name that the readers take for one frame: ';' parts frames, control characters part lines, and
 * a number behind the last space is taken for a count (flamegraph.pl then sees a line with two
 * counts).
 */
static void escape_name(struct buffer *name)
{
    char *text = (char *)name->bytes;
    size_t length = name->size;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ';')
            text[i] = ':';
        else if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = ' ';
    }
    while (length && text[length - 1] == ' ')
        length--;
    size_t digits = length;
    while (digits && strchr("0123456789.", text[digits - 1]))
        digits--;
    if (digits && digits < length && text[digits - 1] == ' ')
        text[digits - 1] = '_';
    name->size = length;
}

/* The id of the raw name's escaped form. */
static uint32_t name_id(struct collapsed *collapsed)
{
    struct buffer *clean = &collapsed->clean;
    buffer_u8(&collapsed->raw, 0);
    buffer_clear(clean);
    if (!collapsed->raw.failed) {
        const char *text = (const char *)collapsed->raw.bytes;
        utf8_append(clean, text + strspn(text, " "));
    }
    if (clean->size && !clean->failed)
        escape_name(clean);
    if (clean->size == 0)
        buffer_text(clean, "[unknown]");
    uint32_t id =
        clean->failed ? INTERN_NONE : intern_add(collapsed->names, clean->bytes, clean->size);
    if (id == INTERN_NONE)
        collapsed->failed = true;
    return id;
}

/* "NAME-ID", and ".N" for the Nth later use of an id. */
static uint32_t task_name_id(struct collapsed *collapsed, struct intern *uses, uint32_t name,
                             uint32_t process, uint32_t id)
{
    uint32_t key[] = {process, id, 0};
    size_t before = intern_count(uses);
    while (intern_add(uses, key, sizeof(key)) < before)
        key[2]++;
    buffer_clear(&collapsed->raw);
    buffer_printf(&collapsed->raw, "%s-%u", profile_text(collapsed->profile, name), id);
    if (key[2])
        buffer_printf(&collapsed->raw, ".%u", key[2]);
    return name_id(collapsed);
}

static void choose_task_names(struct collapsed *collapsed)
{
    const struct profile *profile = collapsed->profile;
    struct intern *uses = intern_new();
    collapsed->failed |= !uses;
    for (uint32_t i = 0; i < profile->process_count && !collapsed->failed; i++)
        collapsed->process_names[i] = task_name_id(collapsed, uses, profile->processes[i].name,
                                                   PROFILE_NONE, profile->processes[i].pid);
    for (uint32_t i = 0; i < profile->thread_count && !collapsed->failed; i++)
        collapsed->thread_names[i] =
            task_name_id(collapsed, uses, profile->threads[i].name, profile->threads[i].process,
                         profile->threads[i].tid);
    if (uses)
        intern_free(uses);
}

/* Names are escaped once each, not once a node. */
/* "[libfoo.so.1+0x123]" */
static void append_address(struct collapsed *collapsed, uint32_t func)
{
    const struct profile *profile = collapsed->profile;
    uint32_t lib = profile->funcs[func].lib;
    const char *name = lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[lib].name);
    buffer_printf(&collapsed->raw, "[%s%s%s]", name, lib == PROFILE_NONE ? "" : "+",
                  profile_text(profile, profile->funcs[func].name));
}

static uint32_t func_name_id(struct collapsed *collapsed, uint32_t func)
{
    const struct profile *profile = collapsed->profile;
    bool is_unknown = export_func_is_unknown(profile, func);
    buffer_clear(&collapsed->raw);
    if (is_unknown && collapsed->options.addresses)
        append_address(collapsed, func);
    else if (collapsed->options.short_names && !is_unknown)
        short_name_append(&collapsed->raw, profile_text(profile, profile->funcs[func].name),
                          profile_text(profile, profile->funcs[func].system_name));
    else
        export_func_name(profile, func, &collapsed->raw);
    return name_id(collapsed);
}

/* As stackcollapse-perf.pl marks them, for flamegraph.pl to colour. */
static const char *annotation(const struct profile_frame *frame)
{
    if (frame->inline_depth)
        return "_[i]";
    return frame->category == PROFILE_KERNEL ? "_[k]"
           : frame->category == PROFILE_JIT  ? "_[j]"
                                             : "";
}

static uint32_t frame_name_id(struct collapsed *collapsed, const struct profile_frame *frame)
{
    uint32_t name = collapsed->func_names[frame->func];
    const char *mark = collapsed->options.annotate ? annotation(frame) : "";
    if (mark[0] == '\0' || collapsed->failed)
        return name;
    buffer_clear(&collapsed->raw);
    buffer_text(&collapsed->raw, intern_string(collapsed->names, name));
    buffer_text(&collapsed->raw, mark);
    return name_id(collapsed);
}

static void choose_names(struct collapsed *collapsed)
{
    const struct profile *profile = collapsed->profile;
    for (uint32_t i = 0; i < profile->func_count; i++)
        collapsed->func_names[i] = func_name_id(collapsed, i);
    for (size_t i = 0; i < profile->frame_count; i++)
        collapsed->frame_names[i] = frame_name_id(collapsed, &profile->frames[i]);
    if (collapsed->thread_names) {
        choose_task_names(collapsed);
        return;
    }
    for (size_t i = 0; i < profile->process_count; i++) {
        buffer_clear(&collapsed->raw);
        buffer_text(&collapsed->raw, profile_text(profile, profile->processes[i].name));
        collapsed->process_names[i] = name_id(collapsed);
    }
}

static uint32_t node_of(struct collapsed *collapsed, uint32_t parent, uint32_t name)
{
    uint32_t id = pairs_find_or_add(&collapsed->node_index, collapsed->nodes,
                                    sizeof(*collapsed->nodes), collapsed->node_count, parent, name);
    if (id < collapsed->node_count)
        return id;
    struct name_node *node = id == PAIRS_NONE ? NULL
                                              : ARRAY_PUSH(collapsed->nodes, collapsed->node_count,
                                                           collapsed->node_capacity);
    if (!node) {
        collapsed->failed = true;
        return NODE_NONE;
    }
    *node = (struct name_node){.parent = parent, .name = name};
    return id;
}

/* The entry of a stack below a process; its node is NODE_NONE when it is new. NULL: out of memory. */
static struct walked *walked_of(struct collapsed *collapsed, uint32_t process, uint32_t stack)
{
    uint32_t id =
        pairs_find_or_add(&collapsed->walked_index, collapsed->walked, sizeof(*collapsed->walked),
                          collapsed->walked_count, process, stack);
    if (id < collapsed->walked_count)
        return &collapsed->walked[id];
    struct walked *walked =
        id == PAIRS_NONE
            ? NULL
            : ARRAY_PUSH(collapsed->walked, collapsed->walked_count, collapsed->walked_capacity);
    if (walked)
        *walked = (struct walked){process, stack, NODE_NONE};
    else
        collapsed->failed = true;
    return walked;
}

/* The node of a stack below a process's: up to what was walked before, then down again. */
static uint32_t stack_node(struct collapsed *collapsed, uint32_t process, uint32_t stack)
{
    const struct profile *profile = collapsed->profile;
    uint32_t node = process;
    size_t depth = 0;
    for (; stack != PROFILE_NONE; stack = profile->stacks[stack].parent) {
        const struct walked *known = walked_of(collapsed, process, stack);
        if (!known)
            return NODE_NONE;
        if (known->node != NODE_NONE) {
            node = known->node;
            break;
        }
        collapsed->path[depth++] = stack;
    }
    while (depth > 0 && !collapsed->failed) {
        uint32_t next = collapsed->path[--depth];
        node = node_of(collapsed, node, collapsed->frame_names[profile->stacks[next].frame]);
        walked_of(collapsed, process, next)->node = node;
    }
    return node;
}

/* What a stack of this thread begins with. */
static uint32_t task_node(struct collapsed *collapsed, uint32_t thread)
{
    uint32_t process = collapsed->profile->threads[thread].process;
    uint32_t node = node_of(collapsed, NODE_NONE, collapsed->process_names[process]);
    return collapsed->thread_names ? node_of(collapsed, node, collapsed->thread_names[thread])
                                   : node;
}

static void build_tree(struct collapsed *collapsed)
{
    const struct profile *profile = collapsed->profile;
    choose_names(collapsed);
    for (size_t i = 0; i < profile->sample_count && !collapsed->failed; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        if (!profile_is_main(profile, sample))
            continue;
        uint32_t task = task_node(collapsed, sample->thread);
        struct recent *recent = &collapsed->recent[sample->stack];
        if (recent->node == 0 || recent->process != task)
            *recent = (struct recent){task, stack_node(collapsed, task, sample->stack) + 1};
        if (!collapsed->failed)
            collapsed->nodes[recent->node - 1].weight += sample->weight;
    }
}

static int by_rest(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    if (left->rest != right->rest)
        return left->rest > right->rest ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static int by_place(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    return left->at < right->at ? -1 : left->at > right->at;
}

/* The total of a recording that has any weight is at least 1, so that its file is not empty. */
static void share_out_counts(struct line *lines, size_t count, uint64_t total, uint64_t period)
{
    uint64_t left = total / period + (total % period >= period - period / 2);
    if (left == 0)
        left = 1;
    for (size_t i = 0; i < count; i++)
        left -= lines[i].count;
    qsort(lines, count, sizeof(*lines), by_rest);
    for (size_t i = 0; i < count && left > 0; i++, left--)
        lines[i].count++;
    qsort(lines, count, sizeof(*lines), by_place);
}

static void write_line(struct collapsed *collapsed, uint32_t node, uint64_t count)
{
    size_t depth = 0;
    for (; node != NODE_NONE; node = collapsed->nodes[node].parent)
        collapsed->path[depth++] = collapsed->nodes[node].name;
    while (depth > 0) {
        size_t size;
        const void *name = intern_bytes(collapsed->names, collapsed->path[--depth], &size);
        buffer_append(collapsed->out, name, size);
        buffer_append(collapsed->out, depth ? ";" : " ", 1);
    }
    decimal_append(collapsed->out, count);
    buffer_append(collapsed->out, "\n", 1);
}

static int write_lines(struct collapsed *collapsed)
{
    uint64_t period = export_period(collapsed->profile, collapsed->profile->main_event);
    uint64_t total = profile_total(collapsed->profile);
    uint32_t *order = calloc(collapsed->node_count + 1, sizeof(*order));
    struct line *lines = calloc(collapsed->node_count + 1, sizeof(*lines));
    size_t count = 0;
    int err = -ENOMEM;
    if (order && lines)
        err = collapsed_order(collapsed->nodes, collapsed->node_count, collapsed->names, order,
                              &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t weight = collapsed->nodes[order[i]].weight;
        lines[i] = (struct line){weight / period, weight % period, i};
    }
    if (count)
        share_out_counts(lines, count, total, period);
    for (size_t i = 0; i < count; i++) {
        if (lines[i].count)
            write_line(collapsed, order[i], lines[i].count);
    }
    free(order);
    free(lines);
    return err;
}

static int collapsed_open(struct collapsed *collapsed, bool threads_apart)
{
    const struct profile *profile = collapsed->profile;
    collapsed->names = intern_new();
    collapsed->recent = calloc(profile->stack_count + 1, sizeof(*collapsed->recent));
    collapsed->func_names = calloc(profile->func_count + 1, sizeof(*collapsed->func_names));
    collapsed->frame_names = calloc(profile->frame_count + 1, sizeof(*collapsed->frame_names));
    collapsed->process_names =
        calloc(profile->process_count + 1, sizeof(*collapsed->process_names));
    if (threads_apart)
        collapsed->thread_names =
            calloc(profile->thread_count + 1, sizeof(*collapsed->thread_names));
    /* A line has up to two names more than its stack: process and thread. */
    collapsed->path = calloc(profile->stack_count + 2, sizeof(*collapsed->path));
    if ((threads_apart && !collapsed->thread_names) || !collapsed->names || !collapsed->recent ||
        !collapsed->func_names || !collapsed->frame_names || !collapsed->process_names ||
        !collapsed->path)
        return -ENOMEM;
    return 0;
}

static void collapsed_close(struct collapsed *collapsed)
{
    intern_free(collapsed->names);
    pairs_free(&collapsed->node_index);
    pairs_free(&collapsed->walked_index);
    free(collapsed->nodes);
    free(collapsed->walked);
    free(collapsed->recent);
    free(collapsed->func_names);
    free(collapsed->frame_names);
    free(collapsed->process_names);
    free(collapsed->thread_names);
    free(collapsed->path);
    buffer_free(&collapsed->raw);
    buffer_free(&collapsed->clean);
}

static int collapsed_write(const struct profile *profile, const struct export_options *options,
                           struct buffer *out, struct error *error)
{
    struct collapsed collapsed = {.profile = profile, .out = out};
    if (options)
        collapsed.options = *options;
    int err = collapsed_open(&collapsed, collapsed.options.threads_apart);
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
    .write = collapsed_write,
};
