/* SPDX-License-Identifier: MIT */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *table_room(size_t size)
{
    void *room = aligned_alloc(TABLE_LARGE_PAGE_BYTES, size);
    if (room)
        (void)madvise(room, size, MADV_HUGEPAGE);
    return room;
}

void *table_new(size_t count, size_t element_bytes)
{
    size_t size;
    if (__builtin_mul_overflow(count, element_bytes, &size))
        return NULL;
    if (size < TABLE_LARGE_PAGE_BYTES)
        return calloc(1, size);
    void *table = table_room(size);
    return table ? memset(table, 0, size) : NULL;
}
