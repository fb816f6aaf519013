/* SPDX-License-Identifier: MIT */
/*
 * Mappings in the order of addresses, without overlaps, as in the kernel. A new mapping cuts the
 * old ones below:
 *
 *     old    ├──── a ────┤├─ b ─┤├──── c ────┤
 *     new             ├─────────────┤
 *     then   ├── a ───┤├─── new ────┤├── c ──┤
 *
 * A hole inside of a mapping leaves two parts, front and back.
 */
#include "record/perf_ring/maps/ring_map.h"

#include "base/budget.h"
#include "base/containers/array.h"
#include "record/tables/maps/map_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct process_map *ring_map_new(void)
{
    struct process_map *map = calloc(1, sizeof(*map));
    if (map)
        map->users = 1;
    return map;
}

static void release(struct process_mapping *mapping)
{
    known_module_release(mapping->module);
    map_path_release(mapping->path);
}

/* Another reference to path and module. False: the budget is exhausted. */
static bool share(const struct process_mapping *mapping)
{
    if (!map_path_use(mapping->path))
        return false;
    if (mapping->module)
        known_module_use(mapping->module);
    return true;
}

static int insert_at(struct process_map *map, size_t index, const struct process_mapping *mapping)
{
    if (!ARRAY_PUSH(map->mappings, map->count, map->capacity))
        return -ENOMEM;
    struct process_mapping *place = map->mappings + index;
    memmove(place + 1, place, (map->count - 1 - index) * sizeof(*place));
    *place = *mapping;
    process_map_note_jit(map, mapping);
    return 0;
}

static void remove_at(struct process_map *map, size_t index)
{
    struct process_mapping *place = map->mappings + index;
    release(place);
    map->count--;
    memmove(place, place + 1, (map->count - index) * sizeof(*place));
}

/* Drops the addresses below start_avma; the bias stays. */
static void cut_front(struct process_mapping *mapping, uint64_t start_avma)
{
    mapping->file_offset += start_avma - mapping->start_avma;
    mapping->start_avma = start_avma;
}

/* Removes [start_avma, end_avma) from the mappings. */
static int clear_range(struct process_map *map, uint64_t start_avma, uint64_t end_avma)
{
    size_t i = ARRAY_COUNT_UP_TO(map->mappings, map->count, end_avma, start_avma);
    while (i < map->count && map->mappings[i].start_avma < end_avma) {
        struct process_mapping *old = &map->mappings[i];
        bool keeps_front = old->start_avma<start_avma, keeps_back = old->end_avma> end_avma;
        if (!keeps_front && !keeps_back) {
            remove_at(map, i);
            continue;
        }
        struct process_mapping back = *old;
        if (keeps_front)
            old->end_avma = start_avma;
        else
            cut_front(old, end_avma);
        if (keeps_front && keeps_back) {
            cut_front(&back, end_avma);
            if (!share(&back))
                return -E2BIG;
            int err = insert_at(map, i + 1, &back);
            if (err)
                release(&back);
            return err;
        }
        i++;
    }
    return 0;
}

int ring_map_put(struct process_map *map, const struct process_mapping *mapping)
{
    int err = map->count < budget_amount(BUDGET_MAPPINGS) ? 0 : -E2BIG;
    if (err == 0)
        err = clear_range(map, mapping->start_avma, mapping->end_avma);
    size_t index = ARRAY_COUNT_BELOW(map->mappings, map->count, start_avma, mapping->start_avma);
    if (err == 0)
        err = insert_at(map, index, mapping);
    struct process_mapping dropped = *mapping;
    if (err)
        release(&dropped);
    return err;
}

struct process_map *ring_map_copy(const struct process_map *map)
{
    struct process_map *copy = ring_map_new();
    for (size_t i = 0; copy && i < map->count && share(&map->mappings[i]); i++) {
        struct process_mapping mapping = map->mappings[i];
        if (insert_at(copy, copy->count, &mapping) != 0)
            release(&mapping);
    }
    return copy;
}

bool ring_map_has(const struct process_map *map, const struct process_mapping *mapping)
{
    const struct process_mapping *same = map ? process_map_find(map, mapping->start_avma) : NULL;
    return same && same->start_avma == mapping->start_avma && same->end_avma == mapping->end_avma &&
           same->file_offset == mapping->file_offset && same->device == mapping->device &&
           same->inode == mapping->inode && strcmp(same->path, mapping->path) == 0;
}
