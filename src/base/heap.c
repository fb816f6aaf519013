/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include "base/containers/table.h"

#include <malloc.h>
#include <stdlib.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    DEFAULT_BYTES = 128 << 10, /* glibc's default of the malloc thresholds */
    HEAP_BYTES = 32 << 20,     /* of address space */
    MAPPED_BYTES = 1 << 20,    /* larger blocks grow by mremap(), without a copy */
    SMALL_BYTES = 1 << 16,     /* in small pages */
};

static struct {
    char *start; /* left on small pages */
    size_t bytes;
} large; /* the heap's large pages; 0 bytes: none */

/* The kernel randomises the heap's start. A filler block occupies the space before the first 2
 * MiB boundary, except for SMALL_BYTES: a large page with a part touched before madvise() stays
 * on small pages. */
static char *begin_at_large_page(void)
{
    static void *volatile filler; /* never read; volatile, or the compiler removes the malloc() */
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
    malloc_trim(0); /* large requests could otherwise reuse the free space at the heap's end */
    if (large.bytes)
        (void)madvise(large.start, large.bytes, MADV_NOHUGEPAGE);
}
