/* SPDX-License-Identifier: MIT */
/*
 * The rusage of ended children, as passed on by the processes that waited for them
 * (struct waited_child): sampler/process/rusage.c.
 */
#pragma once

#include "record/account/process_tree.h"

/* Hands the rusage of each child that the process has waited for since the last call to the entry
 * of the child. The statements are untrusted: only children of the process, or orphans, get any.
 * Children without an entry go to the tree's table of unmet children. */
void waited_children_take(struct process_tree *tree, struct process *waiter);
