/* SPDX-License-Identifier: MIT */
#include "convert/load/group_read.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

int group_reads_init(struct group_reads *reads)
{
    *reads = (struct group_reads){.keys = intern_new()};
    return reads->keys ? 0 : -ENOMEM;
}

void group_reads_free(struct group_reads *reads)
{
    if (reads->keys)
        intern_free(reads->keys);
    free(reads->last);
    *reads = (struct group_reads){0};
}

int group_reads_delta(struct group_reads *reads, const struct perfdata_count *count, uint32_t tid,
                      uint64_t *rise)
{
    const uint64_t key[] = {count->id, count->attr_index, tid};
    uint32_t index = intern_add(reads->keys, key, sizeof(key));
    if (index == INTERN_NONE || index > reads->count)
        return -ENOMEM;
    uint64_t *last = index < reads->count ? &reads->last[index]
                                          : ARRAY_PUSH(reads->last, reads->count, reads->capacity);
    if (!last)
        return -ENOMEM;
    /* Below the last value: a new thread with the id of an ended thread. */
    *rise = count->value >= *last ? count->value - *last : count->value;
    *last = count->value;
    return 0;
}
