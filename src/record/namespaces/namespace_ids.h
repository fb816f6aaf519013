/* SPDX-License-Identifier: MIT */
/* Recorded processes and threads with another id in their own pid namespace, for the summary. */
#pragma once

#include "base/containers/buffer.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a machine with many containers; the tasks beyond are shown without the second id. */
#define NAMESPACE_IDS_MAX 65536

struct namespace_id {
    pid_t id, inner; /* here, and in the innermost namespace */
    uint64_t from_ns;
};

struct namespace_ids {
    struct namespace_id *items; /* owned */
    size_t count, capacity;
};

/* No effect for an equal or unknown (0) inner id. from_ns: not before the start of the task. */
void namespace_ids_add(struct namespace_ids *ids, pid_t id, pid_t inner, uint64_t from_ns);
void namespace_ids_free(struct namespace_ids *ids);

/* The id of a task in the innermost namespace, from /proc; 0: the task is gone. With tid 0, of the
 * process. */
pid_t namespace_ids_read(pid_t pid, pid_t tid);

/* Lines "namespace_id.N=ID INNER FROM_NS". */
void namespace_ids_text(const struct namespace_ids *ids, struct buffer *out);
