/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Has the processor bring bytes into its cache while other things are done; they may be no memory at all. */
static inline void fetch_bytes(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 64)
        __builtin_prefetch((const char *)bytes + i);
}
