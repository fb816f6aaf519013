/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Uninitialised memory for free(), on large pages if the system provides them: pages of 4 KiB
 * cost a fault each. NULL: out of memory. */
enum { TABLE_LARGE_PAGE_BYTES = 2 << 20 };
void *table_room(size_t size);
/* Requests large pages for the aligned part of existing memory. */
void table_prefer_large_pages(void *bytes, size_t size);

/* Zeroed memory for free(); unwritten pages take no physical memory; calloc() provides such
 * memory only if no freed block is large enough. NULL: out of memory. */
void *table_sparse(size_t size);

/* Zeroed memory for free(), for a table with random access. Large tables use large pages if the
 * system provides them, which avoids a page table walk per lookup. NULL: out of memory. */
void *table_new(size_t count, size_t element_bytes);
