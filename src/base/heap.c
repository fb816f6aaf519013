/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include "base/table.h"

#include <malloc.h>
#include <stdlib.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    DEFAULT_BYTES = 128 << 10, /* of malloc's thresholds */
    HEAP_BYTES = 32 << 20,     /* of address space */
    MAPPED_BYTES = 1 << 20,    /* what is larger grows by being moved, not by being copied */
    ANY_BYTES = 1 << 19,       /* more than there is yet */
};

static struct {
    char *start;
    size_t bytes;
} large; /* what malloc() takes in large pages; of no bytes: nothing */

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
    if (end <= start)
        return;
    large.start = start;
    large.bytes = (size_t)(end - start);
    table_prefer_large_pages(large.start, large.bytes);
}

void heap_give_back(void)
{
    malloc_trim(0);
}

void heap_save_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, DEFAULT_BYTES);
    mallopt(M_TRIM_THRESHOLD, DEFAULT_BYTES);
    mallopt(M_TOP_PAD, DEFAULT_BYTES);
    size_t before = -(uintptr_t)large.start % TABLE_LARGE_PAGE_BYTES;
    if (large.bytes > before)
        (void)madvise(large.start + before, large.bytes - before, MADV_NOHUGEPAGE);
}
