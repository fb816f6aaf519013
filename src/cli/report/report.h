/* SPDX-License-Identifier: MIT */
/*
 * What `rec report` shows, as text or JSON: functions by the CPU time of their own (or what else
 * the main event counts), and the tree of calls. Time is "self" where it was spent and "total" for
 * everything above; a recursive function counts once for each stack. Code without names is one
 * function a module.
 */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

#define REPORT_TREE_PERCENT 2 /* calls with less are left out */

struct report_function {
    uint32_t func; /* profile's */
    uint64_t self, total;
};

/* A call path: the same functions in the same order, whatever the addresses; a function that calls
 * itself stays one node. Node 0 is the root. */
struct report_node {
    uint32_t parent; /* an earlier node */
    uint32_t func;   /* PROFILE_NONE: the root */
    uint64_t self, total;
    /* Children by total, biggest first; PROFILE_NONE ends both lists. */
    uint32_t first_child, next_sibling;
};

struct report {
    const struct profile *profile; /* borrowed */
    uint64_t total;
    struct report_function *functions; /* with time, most self first */
    size_t function_count;
    struct report_node *nodes;
    size_t node_count, node_capacity;
};

/* 0 or -ENOMEM. */
int report_build(struct report *report, const struct profile *profile);
void report_free(struct report *report);

/* For a terminal or a file of so many columns. */
void report_print(const struct report *report, const char *path, bool is_part, unsigned columns);

/* "[no name]" for what is only known by its address. */
const char *report_name(const struct profile *profile, uint32_t func);

/* The place of a function, "file.c:12"; "" when it is not known. */
struct report_place {
    char text[256];
};
struct report_place report_place(const struct profile *profile, uint32_t func);

/* One JSON object, "version": 1. */
void report_json(const struct report *report, const char *path, struct buffer *out);
