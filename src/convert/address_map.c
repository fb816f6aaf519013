/* SPDX-License-Identifier: MIT */
#include "convert/address_map.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void address_map_free(struct address_map *map)
{
    free(map->mappings);
    *map = (struct address_map){0};
}

/* The first mapping that ends after avma. */
static size_t first_after(const struct address_map *map, uint64_t avma)
{
    return ARRAY_COUNT_UP_TO(map->mappings, map->count, end_avma, avma);
}

/* Replaces the mappings [first, end) by the given ones; there is room. */
static void splice(struct address_map *map, size_t first, size_t end, const struct mapping *pieces,
                   size_t count)
{
    memmove(map->mappings + first + count, map->mappings + end,
            (map->count - end) * sizeof(*map->mappings));
    memcpy(map->mappings + first, pieces, count * sizeof(*pieces));
    map->count += count - (end - first);
}

int address_map_add(struct address_map *map, const struct mapping *mapping)
{
    if (mapping->end_avma <= mapping->start_avma)
        return 0;
    if (array_reserve((void **)&map->mappings, &map->capacity, map->count + 2,
                      sizeof(*map->mappings)) != 0)
        return -ENOMEM;
    size_t first = first_after(map, mapping->start_avma);
    size_t end = first;
    while (end < map->count && map->mappings[end].start_avma < mapping->end_avma)
        end++;
    struct mapping pieces[3];
    size_t count = 0;
    if (end > first && map->mappings[first].start_avma < mapping->start_avma) {
        pieces[count] = map->mappings[first];
        pieces[count++].end_avma = mapping->start_avma;
    }
    pieces[count++] = *mapping;
    if (end > first && map->mappings[end - 1].end_avma > mapping->end_avma) {
        pieces[count] = map->mappings[end - 1];
        pieces[count].file_offset += mapping->end_avma - pieces[count].start_avma;
        pieces[count++].start_avma = mapping->end_avma;
    }
    splice(map, first, end, pieces, count);
    map->generation++;
    return 0;
}

int address_map_copy(struct address_map *map, const struct address_map *from)
{
    if (array_reserve((void **)&map->mappings, &map->capacity, from->count,
                      sizeof(*map->mappings)) != 0)
        return -ENOMEM;
    if (from->count)
        memcpy(map->mappings, from->mappings, from->count * sizeof(*from->mappings));
    map->count = from->count;
    map->generation++;
    return 0;
}

void address_map_forget_former(struct address_map *map)
{
    size_t kept = 0;
    if (!map->has_former)
        return;
    for (size_t i = 0; i < map->count; i++)
        if (!map->mappings[i].is_former)
            map->mappings[kept++] = map->mappings[i];
    map->count = kept;
    map->has_former = false;
    map->generation++;
}

void address_map_exec(struct address_map *map)
{
    address_map_forget_former(map);
    for (size_t i = 0; i < map->count; i++)
        map->mappings[i].is_former = true;
    map->has_former = map->count != 0;
}

const struct mapping *address_map_find(const struct address_map *map, uint64_t avma)
{
    size_t index = first_after(map, avma);
    if (index == map->count || avma < map->mappings[index].start_avma)
        return NULL;
    return map->mappings[index].module == ADDRESS_MAP_HOLE ? NULL : &map->mappings[index];
}
