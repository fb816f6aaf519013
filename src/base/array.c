/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    void *moved = realloc(*items, bytes);
    if (!moved)
        return -ENOMEM;
    *items = moved;
    *capacity = grown;
    return 0;
}

void *array_push(void **items, size_t *count, size_t *capacity, size_t element_bytes)
{
    if (array_reserve(items, capacity, *count + 1, element_bytes) != 0)
        return NULL;
    void *element = (char *)*items + *count * element_bytes;
    memset(element, 0, element_bytes);
    (*count)++;
    return element;
}
