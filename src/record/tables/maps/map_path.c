/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/map_path.h"

#include "base/budget.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Limits for all processes together, for each mapping of BUDGET_MAPPINGS. */
enum { USERS_FOR_MAPPING = 64, BYTES_FOR_MAPPING = 2048 };

struct map_path {
    _Atomic size_t users;
    size_t bytes; /* of this struct and the text */
    char text[];
};

static _Atomic uint64_t all_users, all_bytes;

static bool take(_Atomic uint64_t *all, uint64_t count, uint64_t for_mapping)
{
    uint64_t most = budget_amount(BUDGET_MAPPINGS) * for_mapping;
    if (atomic_fetch_add(all, count) + count <= most)
        return true;
    atomic_fetch_sub(all, count);
    return false;
}

static struct map_path *path_of(const char *text)
{
    return (struct map_path *)(void *)(text - offsetof(struct map_path, text));
}

static const char *new_path(const char *text, size_t length)
{
    size_t bytes = sizeof(struct map_path) + length + 1;
    if (!take(&all_bytes, bytes, BYTES_FOR_MAPPING))
        return NULL;
    struct map_path *path = malloc(bytes);
    if (!path) {
        atomic_fetch_sub(&all_bytes, bytes);
        return NULL;
    }
    path->users = 1;
    path->bytes = bytes;
    memcpy(path->text, text, length);
    path->text[length] = '\0';
    return path->text;
}

const char *map_path_new(const char *text, size_t length)
{
    if (!take(&all_users, 1, USERS_FOR_MAPPING))
        return NULL;
    const char *path = new_path(text, length);
    if (!path)
        atomic_fetch_sub(&all_users, 1);
    return path;
}

const char *map_path_use(const char *path)
{
    if (!take(&all_users, 1, USERS_FOR_MAPPING))
        return NULL;
    atomic_fetch_add(&path_of(path)->users, 1);
    return path;
}

void map_path_release(const char *text)
{
    if (!text)
        return;
    struct map_path *path = path_of(text);
    atomic_fetch_sub(&all_users, 1);
    if (atomic_fetch_sub(&path->users, 1) != 1)
        return;
    atomic_fetch_sub(&all_bytes, path->bytes);
    free(path);
}
