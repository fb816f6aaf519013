/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Memory that is not zeroed, to be given to free(), in large pages where the system has some to give: the pages of 2 MiB
 * come one by one else, each with a fault. NULL: out of memory. */
enum { TABLE_LARGE_PAGE_BYTES = 2 << 20 };
void *table_room(size_t size);
/* The same for memory that is there, of whatever is whole in it. */
void table_prefer_large_pages(void *bytes, size_t size);

/* Zeroed memory of which a page that is not written takes none, to be given to free(), which calloc() gives only where
 * nothing that was freed is large enough. NULL: out of memory. */
void *table_sparse(size_t size);

/* Zeroed memory for a table that is looked up at random; NULL: out of memory. Large ones have large pages, where the
 * system has some to give: else most lookups are two, of the page and of what lies in it. To be given to free(). */
void *table_new(size_t count, size_t element_bytes);
