/* SPDX-License-Identifier: MIT */
/*
 * Sorted blocks of sorted mappings, as a B-tree of two levels. An insertion into a single array
 * moves all mappings behind: 145 000 overlapping mappings took 5 s of CPU time, and take 0.2 s
 * here.
 *
 *     blocks   [ m m m … ] [ m m … ] [ m m m m … ]      end of a block: the end of its last mapping
 *     place    (block, index); (block_count, 0): behind the last
 */
#include "convert/maps/address_map.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Inserting moves at most this many mappings, at any total. */
enum { BLOCK_MAPPINGS = 256 };

struct place { /* of a mapping; block == block_count: behind the last */
    size_t block, index;
};

static void drop_block(struct address_map *map, size_t block)
{
    free(map->blocks[block].mappings);
    map->block_count--;
    memmove(map->blocks + block, map->blocks + block + 1,
            (map->block_count - block) * sizeof(*map->blocks));
}

void address_map_free(struct address_map *map)
{
    for (size_t i = 0; i < map->block_count; i++)
        free(map->blocks[i].mappings);
    free(map->blocks);
    *map = (struct address_map){0};
}

static uint64_t end_of_block(const struct map_block *block)
{
    return block->mappings[block->count - 1].end_avma;
}

/* The first mapping with an end above avma. */
static struct place first_after(const struct address_map *map, uint64_t avma)
{
    size_t low = 0, high = map->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (end_of_block(&map->blocks[middle]) <= avma)
            low = middle + 1;
        else
            high = middle;
    }
    struct place place = {.block = low};
    if (low < map->block_count)
        place.index =
            ARRAY_COUNT_UP_TO(map->blocks[low].mappings, map->blocks[low].count, end_avma, avma);
    return place;
}

/* NULL: behind the last. */
static struct mapping *at(const struct address_map *map, struct place place)
{
    return place.block < map->block_count ? &map->blocks[place.block].mappings[place.index] : NULL;
}

static struct place behind(const struct address_map *map, struct place place)
{
    if (++place.index < map->blocks[place.block].count)
        return place;
    return (struct place){.block = place.block + 1};
}

static struct map_block *add_block(struct address_map *map, size_t place)
{
    if (!ARRAY_PUSH(map->blocks, map->block_count, map->block_capacity))
        return NULL;
    memmove(map->blocks + place + 1, map->blocks + place,
            (map->block_count - 1 - place) * sizeof(*map->blocks));
    map->blocks[place] = (struct map_block){0};
    return &map->blocks[place];
}

static int append(struct map_block *block, const struct mapping *mappings, size_t count)
{
    if (array_reserve((void **)&block->mappings, &block->capacity, block->count + count,
                      sizeof(*block->mappings)) != 0)
        return -ENOMEM;
    memcpy(block->mappings + block->count, mappings, count * sizeof(*mappings));
    block->count += count;
    return 0;
}

/* The second half of a full block becomes a block. */
static int split(struct address_map *map, size_t full)
{
    enum { KEPT = BLOCK_MAPPINGS / 2 };
    struct map_block *half = add_block(map, full + 1);
    if (!half)
        return -ENOMEM;
    struct map_block *block = &map->blocks[full];
    if (append(half, block->mappings + KEPT, block->count - KEPT) != 0) {
        drop_block(map, full + 1);
        return -ENOMEM;
    }
    block->count = KEPT;
    return 0;
}

/* Moves *place behind the new mapping. */
static int insert(struct address_map *map, struct place *place, const struct mapping *mapping)
{
    if (place->index == 0 && place->block > 0) /* behind the block before */
        *place = (struct place){place->block - 1, map->blocks[place->block - 1].count};
    if (map->block_count == 0 && !add_block(map, 0))
        return -ENOMEM;
    if (map->blocks[place->block].count == BLOCK_MAPPINGS) {
        if (split(map, place->block) != 0)
            return -ENOMEM;
        size_t kept = map->blocks[place->block].count;
        if (place->index > kept)
            *place = (struct place){place->block + 1, place->index - kept};
    }
    struct map_block *block = &map->blocks[place->block];
    if (append(block, mapping, 1) != 0) {
        if (block->count == 0)
            drop_block(map, place->block);
        return -ENOMEM;
    }
    memmove(block->mappings + place->index + 1, block->mappings + place->index,
            (block->count - 1 - place->index) * sizeof(*block->mappings));
    block->mappings[place->index] = *mapping;
    map->count++;
    *place = behind(map, *place);
    return 0;
}

/* *place is the next mapping afterwards. */
static void remove_at(struct address_map *map, struct place *place)
{
    struct map_block *block = &map->blocks[place->block];
    map->count--;
    if (--block->count == 0) {
        drop_block(map, place->block);
        return;
    }
    memmove(block->mappings + place->index, block->mappings + place->index + 1,
            (block->count - place->index) * sizeof(*block->mappings));
    if (place->index == block->count)
        *place = (struct place){.block = place->block + 1};
}

static void begin_at(struct mapping *mapping, uint64_t start_avma)
{
    mapping->file_offset += start_avma - mapping->start_avma;
    mapping->start_avma = start_avma;
}

/* Ends the mapping around the new mapping's start; its part behind the new mapping becomes a
 * separate mapping. */
static int cut_before(struct address_map *map, struct place *place, const struct mapping *mapping)
{
    struct mapping *before = at(map, *place);
    if (!before || before->start_avma >= mapping->start_avma)
        return 0;
    struct mapping rest = *before;
    before->end_avma = mapping->start_avma;
    *place = behind(map, *place);
    if (rest.end_avma <= mapping->end_avma)
        return 0;
    begin_at(&rest, mapping->end_avma);
    struct place next = *place;
    int err = insert(map, &next, &rest);
    if (err == 0)
        *place = first_after(map, mapping->start_avma);
    return err;
}

/* The new mapping wins, as mmap() with MAP_FIXED does in the kernel:
 *
 *     before    ├──── a ────┤├─ b ─┤├─── c ───┤
 *     new             ├────── n ──────┤
 *     after     ├─ a ─┤├───── n ──────┤├─ c ──┤
 */
int address_map_add(struct address_map *map, const struct mapping *mapping)
{
    if (mapping->end_avma <= mapping->start_avma)
        return 0;
    struct place place = first_after(map, mapping->start_avma);
    int err = cut_before(map, &place, mapping);
    struct mapping *next;
    while (err == 0 && (next = at(map, place)) && next->start_avma < mapping->end_avma) {
        if (next->end_avma > mapping->end_avma) {
            begin_at(next, mapping->end_avma);
            break;
        }
        remove_at(map, &place);
    }
    map->generation++;
    return err ? err : insert(map, &place, mapping);
}

int address_map_copy(struct address_map *map, const struct address_map *from)
{
    uint64_t generation = map->generation;
    address_map_free(map);
    map->generation = generation + 1;
    for (size_t i = 0; i < from->block_count; i++) {
        struct map_block *block = add_block(map, i);
        if (!block)
            return -ENOMEM;
        if (append(block, from->blocks[i].mappings, from->blocks[i].count) != 0) {
            drop_block(map, i);
            return -ENOMEM;
        }
        map->count += block->count;
    }
    return 0;
}

static bool forget_former_of(struct map_block *block)
{
    size_t kept = 0;
    for (size_t i = 0; i < block->count; i++)
        if (!block->mappings[i].is_former)
            block->mappings[kept++] = block->mappings[i];
    block->count = kept;
    return kept > 0;
}

void address_map_forget_former(struct address_map *map)
{
    size_t kept = 0;
    if (!map->has_former)
        return;
    map->count = 0;
    for (size_t i = 0; i < map->block_count; i++) {
        if (forget_former_of(&map->blocks[i])) {
            map->count += map->blocks[i].count;
            map->blocks[kept++] = map->blocks[i];
        } else {
            free(map->blocks[i].mappings);
        }
    }
    map->block_count = kept;
    map->has_former = false;
    map->generation++;
}

void address_map_exec(struct address_map *map)
{
    address_map_forget_former(map);
    for (size_t i = 0; i < map->block_count; i++)
        for (size_t j = 0; j < map->blocks[i].count; j++)
            map->blocks[i].mappings[j].is_former = true;
    map->has_former = map->count != 0;
}

const struct mapping *address_map_find(const struct address_map *map, uint64_t avma)
{
    const struct mapping *mapping = at(map, first_after(map, avma));
    if (!mapping || avma < mapping->start_avma || mapping->module == ADDRESS_MAP_HOLE)
        return NULL;
    return mapping;
}
