/* SPDX-License-Identifier: MIT */
/* The rows of a snapshot, in memory shared with a forked reader. */
#pragma once

#include "record/attach/snapshot/snapshot.h"
#include "record/procfs/blocked/blocked_look.h"

/* Room for so many threads. 0 or a negative errno. */
int snapshot_rows_open(struct snapshot *snapshot, size_t threads);
void snapshot_free(struct snapshot *snapshot);

/* Notes why the thread could not be read. */
void snapshot_row_set_failure(struct snapshot_thread *thread, int err);
/* Notes the end of the walk up the thread's stack. */
void snapshot_row_set_end(struct snapshot_thread *thread, const struct look_end *end);
