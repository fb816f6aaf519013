/* SPDX-License-Identifier: MIT */
/* Ids of processes and threads in their own pid namespaces, from the summary of a recording. */
#pragma once

#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct inner_id {
    int32_t id, inner;
    uint64_t from_ns; /* not before the start of the task */
};

struct inner_ids {
    struct inner_id *items; /* owned */
    size_t count, capacity;
};

/* "ID INNER FROM_NS", as recorded; other text has no effect. 0 or -ENOMEM. */
int inner_ids_add(struct inner_ids *ids, const char *text);
void inner_ids_free(struct inner_ids *ids);

/* Sets namespace_pid and namespace_tid of the tasks: of a reused id, of the latest task that has
 * started by from_ns. 0 or -ENOMEM. */
int inner_ids_apply(const struct inner_ids *ids, struct profile *profile);
