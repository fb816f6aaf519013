/* SPDX-License-Identifier: MIT */
#include "record/namespaces/namespace_ids.h"

#include "base/containers/array.h"
#include "base/process_ids.h"

#include <inttypes.h>
#include <stdlib.h>

void namespace_ids_add(struct namespace_ids *ids, pid_t id, pid_t inner, uint64_t from_ns)
{
    if (inner == 0 || inner == id || ids->count == NAMESPACE_IDS_MAX)
        return;
    struct namespace_id *item = ARRAY_PUSH(ids->items, ids->count, ids->capacity);
    if (item)
        *item = (struct namespace_id){.id = id, .inner = inner, .from_ns = from_ns};
}

void namespace_ids_free(struct namespace_ids *ids)
{
    free(ids->items);
    *ids = (struct namespace_ids){0};
}

pid_t namespace_ids_read(pid_t pid, pid_t tid)
{
    pid_t ids[PROCESS_NAMESPACES_MAX];
    size_t depth = process_ids(pid, tid, ids, PROCESS_NAMESPACES_MAX);
    return depth ? ids[depth - 1] : 0;
}

void namespace_ids_text(const struct namespace_ids *ids, struct buffer *out)
{
    for (size_t i = 0; i < ids->count; i++)
        buffer_printf(out, "namespace_id.%zu=%d %d %" PRIu64 "\n", i, (int)ids->items[i].id,
                      (int)ids->items[i].inner, ids->items[i].from_ns);
}
