/* SPDX-License-Identifier: MIT */
/*
 * Private to the collapsed exporter.
 *
 *     collapsed_names.c  from indices of the model to names
 *     collapsed.c        samples ──▶ tree of names, with weights
 *     collapsed_order.c  the tree's stacks in the order of their lines' text
 */
#pragma once

#include "base/containers/intern.h"
#include "export/export.h"

#include <stddef.h>
#include <stdint.h>

#define NODE_NONE UINT32_MAX

struct collapsed_names { /* ids in texts */
    const struct profile *profile;
    struct export_options options;
    struct intern *texts; /* escaped */
    uint32_t *funcs;      /* by func of the model */
    uint32_t *frames;     /* by frame of the model */
    uint32_t *processes;  /* by process of the model */
    uint32_t *threads;    /* by thread of the model; NULL: they are added up */
    struct buffer raw, clean;
    bool failed;
};

/* 0 or -ENOMEM; closed in either case. options: NULL for none. */
int collapsed_names_open(struct collapsed_names *names, const struct profile *profile,
                         const struct export_options *options);
void collapsed_names_close(struct collapsed_names *names);

/* A name below another name, without addresses. Parents precede their children. parent and name
 * are the key of the prefix table. */
struct name_node {
    uint32_t parent; /* NODE_NONE: this is a process */
    uint32_t name;   /* id in names */
    uint32_t path_hash;
    uint64_t weight; /* of samples ending here */
    uint64_t base;   /* the same of the base of a comparison */
};

/* Writes the nodes with weight into order[] (room for all), sorted by the bytes of their lines,
 * and the number of nodes into *count. 0 or -ENOMEM. */
int collapsed_order(const struct name_node *nodes, size_t node_count, const struct intern *names,
                    uint32_t *order, size_t *count);
