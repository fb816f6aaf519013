/* SPDX-License-Identifier: MIT */
/* Reads the threads of a process into the rows of a snapshot, and their stacks into a capture. */
#pragma once

#include "record/attach/snapshot/snapshot.h"

/* In the reading process. 0 or a negative errno: -EACCES or -EPERM without the right to trace the
 * target. */
int snapshot_read(struct snapshot *snapshot, const struct snapshot_request *request);
