/* SPDX-License-Identifier: MIT */
/* The part of a snapshot that may hang or take long, in a forked process with a time limit. */
#pragma once

#include "record/attach/snapshot/snapshot.h"

/* Runs the function there. Of its effects, rows, count and torn of the snapshot remain, and files.
 * The function's result, or an error of time_limited_run(). */
int limited_read_run(struct snapshot *snapshot, int (*function)(void *context), void *context,
                     uint64_t limit_ns);
