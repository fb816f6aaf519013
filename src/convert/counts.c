/* SPDX-License-Identifier: MIT */
#include "convert/counts.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

int counts_init(struct counts *counts)
{
    *counts = (struct counts){.keys = intern_new()};
    return counts->keys ? 0 : -ENOMEM;
}

void counts_free(struct counts *counts)
{
    if (counts->keys)
        intern_free(counts->keys);
    free(counts->last);
    *counts = (struct counts){0};
}

int counts_rise(struct counts *counts, const struct perfdata_count *count, uint32_t tid,
                uint64_t *rise)
{
    const uint64_t key[] = {count->id, count->attr_index, tid};
    uint32_t index = intern_add(counts->keys, key, sizeof(key));
    if (index == INTERN_NONE || index > counts->count)
        return -ENOMEM;
    uint64_t *last = index < counts->count
                         ? &counts->last[index]
                         : ARRAY_PUSH(counts->last, counts->count, counts->capacity);
    if (!last)
        return -ENOMEM;
    /* Less than before: a new thread with the id of one that has ended. */
    *rise = count->value >= *last ? count->value - *last : count->value;
    *last = count->value;
    return 0;
}
