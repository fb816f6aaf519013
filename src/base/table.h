/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Zeroed memory for a table that is looked up at random; NULL: out of memory. Large ones have large pages, where the
 * system has some to give: else most lookups are two, of the page and of what lies in it. To be given to free(). */
void *table_new(size_t count, size_t element_bytes);
