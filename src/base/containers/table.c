/* SPDX-License-Identifier: MIT */
#include "base/containers/table.h"

#include "base/budget.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Best effort: the system may lack large pages. */
void table_prefer_large_pages(void *bytes, size_t size)
{
    size_t before = -(uintptr_t)bytes % TABLE_LARGE_PAGE_BYTES;
    if (size < before + TABLE_LARGE_PAGE_BYTES)
        return;
    size_t whole_bytes = (size - before) / TABLE_LARGE_PAGE_BYTES * TABLE_LARGE_PAGE_BYTES;
    (void)madvise((char *)bytes + before, whole_bytes, MADV_HUGEPAGE);
}

void *table_room(size_t size)
{
    void *room = budget_has_memory(size) ? aligned_alloc(TABLE_LARGE_PAGE_BYTES, size) : NULL;
    if (room)
        table_prefer_large_pages(room, size);
    return room;
}

void *table_sparse(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *bytes = malloc(size ? size : 1);
    if (!bytes)
        return NULL;
    size_t before = -(uintptr_t)bytes % page;
    size_t whole = size > before ? (size - before) / page * page : 0;
    if (whole == 0 || madvise(bytes + before, whole, MADV_DONTNEED) != 0)
        return memset(bytes, 0, size);
    memset(bytes, 0, before);
    memset(bytes + before + whole, 0, size - before - whole);
    return bytes;
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
