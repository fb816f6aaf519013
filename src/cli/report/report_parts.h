/* SPDX-License-Identifier: MIT */
/* Steps of building a report, for report_around.c. */
#pragma once

#include "base/containers/intern.h"
#include "cli/report/report.h"

/* The child of a node for this function, added if new; PROFILE_NONE: out of memory. paths: the
 * index of nodes, empty before node 0 is added with parent and func PROFILE_NONE. */
uint32_t report_child(struct report *report, struct intern *paths, uint32_t parent, uint32_t func);

/* same[func]: func, or for a function without a name the first such function of the module. Freed
 * by the caller; NULL: out of memory. */
uint32_t *report_merge_nameless(const struct profile *profile);

/* Adds up the totals of nodes with their self time. */
void report_add_totals(struct report *report);

/* Links the children and adds up the functions. 0 or -ENOMEM. */
int report_finish(struct report *report);
