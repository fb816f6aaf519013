/* SPDX-License-Identifier: MIT */
/*
 * Parents come first in the tables of stacks and nodes: a pass by increasing index finds the paths,
 * and a pass by decreasing index adds the totals, without recursion.
 */
#include "cli/report/report_parts.h"

#include "base/containers/array.h"
#include "base/text/path_name.h"
#include "cli/report/symbolized_load.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void report_free(struct report *report)
{
    free(report->functions);
    free(report->nodes);
    *report = (struct report){0};
}

uint32_t report_child(struct report *report, struct intern *paths, uint32_t parent, uint32_t func)
{
    const uint32_t key[2] = {parent, func};
    uint32_t id = intern_add(paths, key, sizeof(key));
    if (id == INTERN_NONE || id < report->node_count)
        return id;
    struct report_node *node = ARRAY_PUSH(report->nodes, report->node_count, report->node_capacity);
    if (!node)
        return PROFILE_NONE;
    *node = (struct report_node){
        .parent = parent, .func = func, .first_child = PROFILE_NONE, .next_sibling = PROFILE_NONE};
    return id;
}

const char *report_name(const struct profile *profile, uint32_t func)
{
    return symbolized_is_unnamed(profile, func) ? "[no name]"
                                                : profile_text(profile, profile->funcs[func].name);
}

struct report_place report_place(const struct profile *profile, uint32_t func)
{
    struct report_place place = {{0}};
    const struct profile_func *f = &profile->funcs[func];
    if (f->file == PROFILE_NONE)
        return place;
    const char *file = path_name(profile_text(profile, f->file));
    if (f->line)
        snprintf(place.text, sizeof(place.text), "%.200s:%u", file, f->line);
    else
        snprintf(place.text, sizeof(place.text), "%.200s", file);
    return place;
}

uint32_t *report_merge_nameless(const struct profile *profile)
{
    uint32_t *same = calloc(profile->func_count + 1, sizeof(*same));
    uint32_t *first = calloc(profile->lib_count + 1,
                             sizeof(*first)); /* last element: functions without a module */
    for (size_t i = 0; same && first && i < profile->func_count; i++) {
        uint32_t lib = profile->funcs[i].lib;
        uint32_t *nameless = &first[lib == PROFILE_NONE ? profile->lib_count : lib];
        same[i] = (uint32_t)i;
        if (!symbolized_is_unnamed(profile, (uint32_t)i))
            continue;
        if (*nameless)
            same[i] = *nameless - 1;
        else
            *nameless = (uint32_t)i + 1;
    }
    if (!first) {
        free(same);
        same = NULL;
    }
    free(first);
    return same;
}

/* node_of_stack[i]: the path of profile stack i. Parents come first in both tables. */
static int build_paths(struct report *report, struct intern *paths, const uint32_t *same,
                       uint32_t *node_of_stack)
{
    const struct profile *profile = report->profile;
    if (report_child(report, paths, PROFILE_NONE, PROFILE_NONE) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < profile->stack_count; i++) {
        const struct profile_stack *stack = &profile->stacks[i];
        uint32_t parent = stack->parent == PROFILE_NONE ? 0 : node_of_stack[stack->parent];
        uint32_t func = same[profile->frames[stack->frame].func];
        bool is_recursion = report->nodes[parent].func == func;
        node_of_stack[i] = is_recursion ? parent : report_child(report, paths, parent, func);
        if (node_of_stack[i] == PROFILE_NONE)
            return -ENOMEM;
    }
    return 0;
}

void report_add_totals(struct report *report)
{
    for (size_t i = report->node_count; i-- > 0;) {
        struct report_node *node = &report->nodes[i];
        node->total += node->self;
        if (i > 0)
            report->nodes[node->parent].total += node->total;
    }
}

static void add_weights(struct report *report, const uint32_t *node_of_stack)
{
    const struct profile *profile = report->profile;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (!profile_is_main(profile, sample))
            continue;
        uint32_t node = sample->stack == PROFILE_NONE ? 0 : node_of_stack[sample->stack];
        report->nodes[node].self += sample->weight;
        report->total += sample->weight;
    }
    report_add_totals(report);
}

static int by_total(const void *a, const void *b, void *nodes_of_report)
{
    const struct report_node *nodes = nodes_of_report;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (nodes[left].total != nodes[right].total)
        return nodes[left].total < nodes[right].total ? -1 : 1;
    return left > right ? -1 : left < right;
}

/* Inserts nodes by increasing total at the head of the sibling list: lists decrease. */
static int link_children(struct report *report)
{
    uint32_t *order = calloc(report->node_count, sizeof(*order));
    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < report->node_count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, report->node_count, sizeof(*order), by_total, report->nodes);
    for (size_t i = 0; i < report->node_count; i++) {
        struct report_node *node = &report->nodes[order[i]];
        if (order[i] == 0)
            continue;
        node->next_sibling = report->nodes[node->parent].first_child;
        report->nodes[node->parent].first_child = order[i];
    }
    free(order);
    return 0;
}

static int by_self(const void *a, const void *b)
{
    const struct report_function *left = a, *right = b;
    if (left->self != right->self)
        return left->self < right->self ? 1 : -1;
    if (left->total != right->total)
        return left->total < right->total ? 1 : -1;
    return left->func < right->func ? -1 : left->func > right->func;
}

/* Adds the self time of each path to every function of the path once: seen[func] is the last path
 * added to func. */
static void sum_functions(struct report *report, uint32_t *seen)
{
    for (uint32_t i = 1; i < report->node_count; i++) {
        uint64_t self = report->nodes[i].self;
        if (self == 0)
            continue;
        report->functions[report->nodes[i].func].self += self;
        for (uint32_t at = i; at != 0; at = report->nodes[at].parent) {
            uint32_t func = report->nodes[at].func;
            if (seen[func] != i)
                report->functions[func].total += self;
            seen[func] = i;
        }
    }
}

static int build_functions(struct report *report)
{
    size_t count = report->profile->func_count;
    uint32_t *seen = calloc(count + 1, sizeof(*seen));
    report->functions = calloc(count + 1, sizeof(*report->functions));
    if (!seen || !report->functions) {
        free(seen);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        report->functions[i].func = (uint32_t)i;
    sum_functions(report, seen);
    free(seen);
    qsort(report->functions, count, sizeof(*report->functions), by_self);
    while (count > 0 && report->functions[count - 1].total == 0)
        count--;
    report->function_count = count;
    return 0;
}

int report_finish(struct report *report)
{
    int err = link_children(report);
    return err ? err : build_functions(report);
}

int report_build(struct report *report, const struct profile *profile)
{
    *report = (struct report){.profile = profile};
    struct intern *paths = intern_new();
    uint32_t *node_of_stack = calloc(profile->stack_count + 1, sizeof(*node_of_stack));
    uint32_t *same = report_merge_nameless(profile);
    int err = -ENOMEM;
    if (paths && node_of_stack && same)
        err = build_paths(report, paths, same, node_of_stack);
    if (!err) {
        add_weights(report, node_of_stack);
        err = report_finish(report);
    }
    intern_free(paths);
    free(node_of_stack);
    free(same);
    if (err)
        report_free(report);
    return err;
}
