/* SPDX-License-Identifier: MIT */
/* The threads of a core file as a snapshot. */
#pragma once

#include "base/text/error.h"
#include "record/attach/snapshot/snapshot.h"

struct core_request {
    const char *path;
    const char *executable; /* NULL: as in the core */
    int capture_fd;         /* an empty file */
    uint64_t limit_ns;      /* for maps and stacks */
};

/* To be freed by snapshot_free(), also after an error. 0 or a negative errno and a message. */
int core_snapshot_take(struct snapshot *snapshot, const struct core_request *request,
                       struct error *error);
