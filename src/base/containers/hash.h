/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Mixes all bits of a word (finaliser of MurmurHash3). */
static inline uint64_t hash_word(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* For in-memory hash tables, and for file names with a later comparison of the content. Not stable
 * across versions. */
static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t hash = size;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    uint64_t tail = 0;
    if (size)
        memcpy(&tail, p, size);
    return hash_word(hash ^ tail);
}
