/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include "base/table.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    DEFAULT_BYTES = 128 << 10, /* of malloc's thresholds */
    HEAP_BYTES = 32 << 20,     /* of address space */
    MAPPED_BYTES = 1 << 20,    /* what is larger grows by being moved, not by being copied */
    ANY_BYTES = 1 << 19,       /* more than there is yet */
};

void heap_prefer_large_pages(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * HEAP_BYTES);
    mallopt(M_TOP_PAD, HEAP_BYTES);
    char *start = sbrk(0);
    void *volatile any = malloc(ANY_BYTES); /* or the compiler leaves it out */
    free(any);
    char *end = sbrk(0);
    mallopt(M_TOP_PAD, TABLE_LARGE_PAGE_BYTES);
    if (end > start)
        table_prefer_large_pages(start, (size_t)(end - start));
}

void heap_save_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, DEFAULT_BYTES);
    mallopt(M_TRIM_THRESHOLD, DEFAULT_BYTES);
    mallopt(M_TOP_PAD, DEFAULT_BYTES);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}
