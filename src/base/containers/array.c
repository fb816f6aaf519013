/* SPDX-License-Identifier: MIT */
#include "base/containers/array.h"

#include "base/budget.h"
#include "base/containers/table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int array_reserve(void **items, size_t *capacity, size_t need, size_t element_bytes)
{
    if (need <= *capacity)
        return 0;
    size_t grown = *capacity < 8 ? 8 : *capacity;
    while (grown < need) {
        if (grown > SIZE_MAX / 2)
            return -ENOMEM;
        grown *= 2;
    }
    size_t bytes;
    if (__builtin_mul_overflow(grown, element_bytes, &bytes))
        return -ENOMEM;
    if (!budget_has_memory(bytes))
        return -ENOMEM;
    void *moved = realloc(*items, bytes);
    if (!moved)
        return -ENOMEM;
    if (bytes >= 2 * TABLE_LARGE_PAGE_BYTES)
        table_prefer_large_pages(moved, bytes);
    *items = moved;
    *capacity = grown;
    return 0;
}
