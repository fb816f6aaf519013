/* SPDX-License-Identifier: MIT */
/*
 * The output of `rec report`, as text or JSON: functions by self CPU time (or by the unit of the
 * main event), and the tree of calls. "self": time at the leaf; "total": time at the leaf or below.
 * A recursive function counts once for each stack. All code of a module without names counts as a
 * single function.
 */
#pragma once

#include "base/containers/buffer.h"
#include "cli/files/inputs.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_TREE_PERCENT 2 /* smaller calls are left out */

struct report_function {
    uint32_t func; /* index in the profile */
    uint64_t self, total;
};

/* A call path: the same functions in the same order, at any addresses. Direct recursion stays
 * within a node. Node 0 is the root. */
struct report_node {
    uint32_t parent; /* an earlier node */
    uint32_t func;   /* PROFILE_NONE: the root */
    uint64_t self, total;
    /* Children by decreasing total; PROFILE_NONE ends both lists. */
    uint32_t first_child, next_sibling;
};

struct report {
    const struct profile *profile; /* borrowed */
    uint64_t total;
    struct report_function *functions; /* with time, by decreasing self */
    size_t function_count;
    struct report_node *nodes;
    size_t node_count, node_capacity;
};

/* 0 or -ENOMEM. */
int report_build(struct report *report, const struct profile *profile);
void report_free(struct report *report);

/* Of stacks with a chosen function (by func), from the outermost occurrence: the calls below, or
 * the callers, upwards. 0 or -ENOMEM. */
int report_build_around(struct report *report, const struct profile *profile, const bool *chosen,
                        bool is_upwards);

struct report_style {
    bool is_part;         /* filters are in effect */
    bool has_limit;       /* --percent-limit: no other limit of rows and calls */
    double least_percent; /* smaller rows and calls are left out */
    bool has_tree;        /* with the calls, … */
    const char *around;   /* … upwards or downwards from this function; NULL: from the threads */
    bool is_upwards;
    unsigned columns; /* of the output */
};

/* Prints to standard output. rows: NULL for the tree alone. */
struct report_rows;
void report_print(const struct report *report, const struct report_rows *rows,
                  const struct inputs *inputs, const struct report_style *style);
void report_print_markdown(const struct report *report, const struct report_rows *rows,
                           const struct inputs *inputs, const struct report_style *style);

/* The line above the calls: "calls with at least 2 %". */
struct report_title {
    char text[640];
};
struct report_title report_tree_title(const struct report_style *style, double percent);

/* Appends the calls as indented text. Returns the limit in per cent: of the style, or the least
 * with a tree of moderate length. */
double report_tree_write(const struct report *report, const struct report_style *style,
                         struct buffer *out);

/* "[no name]" for functions without a name. */
const char *report_name(const struct profile *profile, uint32_t func);

/* The place of a function, "file.c:12"; "": unknown. */
struct report_place {
    char text[256];
};
struct report_place report_place(const struct profile *profile, uint32_t func);

/* A JSON object, "version": 1. rows: NULL for functions and calls. */
void report_json(const struct report *report, const struct report_rows *rows,
                 const struct inputs *inputs, struct buffer *out);
