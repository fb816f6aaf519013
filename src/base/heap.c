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
    SMALL_BYTES = 1 << 16,     /* in small pages */
};

static struct {
    char *start; /* of a large page */
    size_t bytes;
} large; /* what malloc() takes in large pages; of no bytes: nothing */

/* Where the kernel lets the heap begin is random. All up to the first large page is filled, but for what is in small
 * ones: a large page of which a part was touched before it was one consists of small ones. */
static char *begin_at_large_page(void)
{
    static void *volatile filler; /* never used; or the compiler leaves it out */
    char *start = sbrk(0);
    size_t before = TABLE_LARGE_PAGE_BYTES + -(uintptr_t)start % TABLE_LARGE_PAGE_BYTES;
    filler = malloc(before - SMALL_BYTES);
    return filler ? start + before : NULL;
}

void heap_prefer_large_pages(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 2 * TABLE_LARGE_PAGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * HEAP_BYTES);
    mallopt(M_TOP_PAD, HEAP_BYTES);
    char *start = begin_at_large_page();
    char *end = sbrk(0);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    mallopt(M_TOP_PAD, TABLE_LARGE_PAGE_BYTES);
    if (!start || end <= start)
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
    malloc_trim(0); /* what is free at the end of the heap would be taken for what is large, too */
    if (large.bytes)
        (void)madvise(large.start, large.bytes, MADV_NOHUGEPAGE);
}
