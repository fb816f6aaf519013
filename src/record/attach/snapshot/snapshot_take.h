/* SPDX-License-Identifier: MIT */
/* Takes a snapshot, with a time limit. */
#pragma once

#include "base/text/error.h"
#include "record/attach/snapshot/snapshot.h"

/* To be freed by snapshot_free() of snapshot_rows.h, also after an error. 0; -ETIMEDOUT: the target
 * hangs in the kernel; or a negative errno with a message. */
int snapshot_take(struct snapshot *snapshot, const struct snapshot_request *request,
                  struct error *error);
