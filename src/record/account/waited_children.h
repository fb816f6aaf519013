/* SPDX-License-Identifier: MIT */
/*
 * The rusage of ended children, as passed on by the processes that waited for them
 * (struct waited_child): sampler/process/rusage.c.
 */
#pragma once

#include "record/process/process_table.h"

/* Hands the rusage of each child that the process has waited for since the last call to the entry
 * of the child. The statements are untrusted: only children of the process, or orphans, get any. */
void waited_children_take(struct process_table *processes, struct process *waiter);
