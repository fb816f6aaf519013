/* SPDX-License-Identifier: MIT */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE_BYTES = 2 << 20 };

void *table_new(size_t count, size_t element_bytes)
{
    size_t size;
    if (__builtin_mul_overflow(count, element_bytes, &size))
        return NULL;
    if (size < LARGE_PAGE_BYTES)
        return calloc(1, size);
    void *table = aligned_alloc(LARGE_PAGE_BYTES, size);
    if (!table)
        return NULL;
    (void)madvise(table, size, MADV_HUGEPAGE);
    return memset(table, 0, size);
}
