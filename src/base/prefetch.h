/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Prefetches bytes into the cache. Invalid addresses are harmless. */
static inline void prefetch_bytes(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 64)
        __builtin_prefetch((const char *)bytes + i);
}
