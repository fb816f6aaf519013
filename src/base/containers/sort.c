/* SPDX-License-Identifier: MIT */
/*
 * A radix sort of (key, index), then one permutation of the elements: elements of any size move
 * once. Bytes in which all keys are equal take no pass.
 */
#include "base/containers/sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct keyed {
    uint64_t key;
    size_t index; /* before sorting */
};

struct seen {
    uint64_t differing; /* bits in which keys differ */
    bool is_sorted;
};

static struct seen read_keys(struct keyed *keys, const char *items, size_t count,
                             size_t element_bytes, size_t key_bytes)
{
    struct seen seen = {.is_sorted = true};
    for (size_t i = 0; i < count; i++) {
        uint32_t narrow;
        keys[i].index = i;
        if (key_bytes == sizeof(narrow)) {
            memcpy(&narrow, items + i * element_bytes, sizeof(narrow));
            keys[i].key = narrow;
        } else {
            memcpy(&keys[i].key, items + i * element_bytes, sizeof(keys[i].key));
        }
        seen.differing |= keys[i].key ^ keys[0].key;
        seen.is_sorted &= i == 0 || keys[i - 1].key <= keys[i].key;
    }
    return seen;
}

/* A pass for each byte in which keys differ, least significant first: each pass is stable. */
static void sort_by_byte(const struct keyed *from, struct keyed *to, size_t count, unsigned shift)
{
    size_t places[257] = {0};
    for (size_t i = 0; i < count; i++)
        places[(from[i].key >> shift & 0xff) + 1]++;
    for (size_t byte = 1; byte < 256; byte++)
        places[byte] += places[byte - 1];
    for (size_t i = 0; i < count; i++)
        to[places[from[i].key >> shift & 0xff]++] = from[i];
}

/* Applies the permutation in place: element keys[i].index moves to i. Each cycle saves its first
 * element in `first`. */
static void put_in_order(char *items, size_t element_bytes, struct keyed *keys, size_t count,
                         char *first)
{
    for (size_t start = 0; start < count; start++) {
        size_t at = start, from = keys[at].index;
        if (from == start)
            continue;
        memcpy(first, items + start * element_bytes, element_bytes);
        for (; from != start; at = from, from = keys[at].index) {
            memcpy(items + at * element_bytes, items + from * element_bytes, element_bytes);
            keys[at].index = at;
        }
        memcpy(items + at * element_bytes, first, element_bytes);
        keys[at].index = at;
    }
}

int sort_by(void *items, size_t count, size_t element_bytes, size_t key_at, size_t key_bytes)
{
    if (count < 2)
        return 0;
    struct keyed *keys = calloc(count, sizeof(*keys)), *other = calloc(count, sizeof(*other));
    char *spare = malloc(element_bytes);
    int err = keys && other && spare ? 0 : -ENOMEM;
    struct seen seen = {.is_sorted = true};
    if (err == 0)
        seen = read_keys(keys, (char *)items + key_at, count, element_bytes, key_bytes);
    for (unsigned shift = 0; !seen.is_sorted && shift < 64; shift += 8) {
        if ((seen.differing >> shift & 0xff) == 0)
            continue;
        sort_by_byte(keys, other, count, shift);
        struct keyed *swap = keys;
        keys = other;
        other = swap;
    }
    if (!seen.is_sorted)
        put_in_order(items, element_bytes, keys, count, spare);
    free(keys);
    free(other);
    free(spare);
    return err;
}

int sort_by_then(void *items, size_t count, size_t element_bytes, size_t key_at, size_t key_bytes,
                 int (*compare)(const void *, const void *))
{
    int err = sort_by(items, count, element_bytes, key_at, key_bytes);
    char *all = items;
    for (size_t first = 0, end; err == 0 && first < count; first = end) {
        const char *key = all + first * element_bytes + key_at;
        for (end = first + 1;
             end < count && memcmp(all + end * element_bytes + key_at, key, key_bytes) == 0;)
            end++;
        if (end - first > 1)
            qsort(all + first * element_bytes, end - first, element_bytes, compare);
    }
    return err;
}
