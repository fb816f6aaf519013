/* SPDX-License-Identifier: MIT */
/*
 * Ids to bytes and bytes to ids:
 *
 *     slots[hash & mask]: id + 1 ─▶ entries[id]: hash, offset, size ─▶ bytes: … │ text NUL pad │ …
 *
 * Entries keep the hash, so the slots grow without a look at the bytes.
 */
#include "base/containers/intern.h"

#include "base/containers/array.h"
#include "base/containers/buffer.h"
#include "base/containers/hash.h"
#include "base/containers/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t hash;
    size_t offset; /* of the bytes in `bytes` */
    size_t size;
};

/* Open addressing with linear probing; slots hold id + 1, 0 is empty; at most half full. */
struct intern {
    struct buffer bytes;
    struct entry *entries;
    size_t count;
    size_t capacity;
    uint32_t *slots;
    size_t slot_count; /* power of two */
    /* The last result: consecutive addresses often have the same function name. */
    uint32_t last;
};

struct intern *intern_new(void)
{
    struct intern *intern = calloc(1, sizeof(*intern));
    if (!intern)
        return NULL;
    intern->slot_count = 64;
    intern->slots = calloc(intern->slot_count, sizeof(*intern->slots));
    if (!intern->slots) {
        free(intern);
        return NULL;
    }
    return intern;
}

void intern_free(struct intern *intern)
{
    if (!intern)
        return;
    buffer_free(&intern->bytes);
    free(intern->entries);
    free(intern->slots);
    free(intern);
}

static bool has(const struct intern *intern, uint32_t id, const void *bytes, size_t size)
{
    const struct entry *entry = &intern->entries[id];
    return entry->size == size && memcmp(intern->bytes.bytes + entry->offset, bytes, size) == 0;
}

/* The slot with these bytes, or the empty slot for them. */
static size_t find_slot(const struct intern *intern, uint64_t hash, const void *bytes, size_t size)
{
    size_t mask = intern->slot_count - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (intern->slots[slot] == 0)
            return slot;
        uint32_t id = intern->slots[slot] - 1;
        if (intern->entries[id].hash == hash && has(intern, id, bytes, size))
            return slot;
    }
}

static int grow_slots(struct intern *intern)
{
    size_t grown = intern->slot_count * 2;
    uint32_t *slots = table_new(grown, sizeof(*slots));
    if (!slots)
        return -1;
    for (size_t i = 0; i < intern->count; i++) {
        size_t slot = intern->entries[i].hash & (grown - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (grown - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->slot_count = grown;
    return 0;
}

static uint32_t find_or_add(struct intern *intern, const void *bytes, size_t size)
{
    uint64_t hash = hash_bytes(bytes, size);
    size_t slot = find_slot(intern, hash, bytes, size);
    if (intern->slots[slot] != 0)
        return intern->slots[slot] - 1;
    if (intern->count >= INTERN_NONE - 1)
        return INTERN_NONE;
    if (intern->count * 2 >= intern->slot_count) {
        if (grow_slots(intern) != 0)
            return INTERN_NONE;
        slot = find_slot(intern, hash, bytes, size);
    }
    buffer_zeros(&intern->bytes, -intern->bytes.size & 7u);
    size_t offset = intern->bytes.size;
    buffer_append(&intern->bytes, bytes, size);
    buffer_u8(&intern->bytes, 0);
    if (intern->bytes.failed)
        return INTERN_NONE;
    struct entry *entry = ARRAY_PUSH(intern->entries, intern->count, intern->capacity);
    if (!entry)
        return INTERN_NONE;
    *entry = (struct entry){.hash = hash, .offset = offset, .size = size};
    intern->slots[slot] = (uint32_t)intern->count;
    return (uint32_t)intern->count - 1;
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t size)
{
    if (intern->count && has(intern, intern->last, bytes, size))
        return intern->last;
    uint32_t id = find_or_add(intern, bytes, size);
    if (id != INTERN_NONE)
        intern->last = id;
    return id;
}

uint32_t intern_text(struct intern *intern, const char *text)
{
    return intern_add(intern, text, strlen(text));
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size)
{
    uint32_t found = intern->slots[find_slot(intern, hash_bytes(bytes, size), bytes, size)];
    return found ? found - 1 : INTERN_NONE;
}

uint32_t intern_count(const struct intern *intern)
{
    return (uint32_t)intern->count;
}

const void *intern_bytes(const struct intern *intern, uint32_t id, size_t *size)
{
    if (size)
        *size = intern->entries[id].size;
    return intern->bytes.bytes + intern->entries[id].offset;
}

const char *intern_string(const struct intern *intern, uint32_t id)
{
    return intern_bytes(intern, id, NULL);
}
