/* SPDX-License-Identifier: MIT */
/*
 * Children that ended before rec has met them: made by vfork() or clone() without exec, or programs
 * without a sampler. The rusage passed on by the parent gives pid and CPU time; the name is the
 * parent's, as after a fork.
 */
#pragma once

#include "record/account/process_tree.h"
#include "record/sample/sample_writer.h"

/* Writes the children that were waited for at least 250 ms before now_ns, as [not followed]. */
void unmet_children_write(struct process_tree *tree, struct sample_writer *samples,
                          uint64_t now_ns);
