/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/row_allocator.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first of `count` adjacent free blocks; ROW_BLOCKS: none. */
/* The first of `count` adjacent free blocks; ROW_BLOCKS: none. A search over 1920 bytes, beside 0.3
 * ms for the rows of a piece. */
static size_t find_free(const struct row_allocator *room, size_t count)
{
    size_t free_blocks = 0;
    for (size_t i = 0; i < ROW_BLOCKS; i++) {
        free_blocks = room->is_taken[i] ? 0 : free_blocks + 1;
        if (free_blocks == count)
            return i + 1 - count;
    }
    return ROW_BLOCKS;
}

/* Marks the blocks as taken and clears blocks used before. */
static void occupy(struct row_allocator *room, size_t first, size_t count)
{
    size_t used = first < room->fresh ? room->fresh - first : 0;
    memset(room->rows + first * ROW_BLOCK_CELLS, 0,
           (used < count ? used : count) * ROW_BLOCK_CELLS * sizeof(*room->rows));
    memset(room->is_taken + first, true, count);
    if (room->fresh < first + count)
        room->fresh = first + count;
}

static size_t blocks_of(size_t cells)
{
    return cells / ROW_BLOCK_CELLS + (cells % ROW_BLOCK_CELLS > 0);
}

/* Extends the last run into the free blocks behind, so that the run has no unused rest: with
 * pieces of 3000 cells, a quarter of all room would be lost. */
static bool extend_run(struct row_allocator *room, struct row_blocks *blocks, size_t cells)
{
    size_t left = blocks->end - blocks->next;
    if (left == 0)
        return false;
    struct row_run *last = &blocks->runs[blocks->count - 1];
    size_t first = (size_t)last->first + last->count;
    size_t count = blocks_of(cells - left);
    if (count > ROW_BLOCKS - first || memchr(room->is_taken + first, true, count))
        return false;
    occupy(room, first, count);
    last->count += (uint32_t)count;
    blocks->end += (uint32_t)count * ROW_BLOCK_CELLS;
    return true;
}

static int add_run(struct row_allocator *room, struct row_blocks *blocks, size_t cells)
{
    size_t count = blocks_of(cells);
    size_t first = find_free(room, count);
    if (first == ROW_BLOCKS)
        return -ENOSPC;
    struct row_run *run = ARRAY_PUSH(blocks->runs, blocks->count, blocks->capacity);
    if (!run)
        return -ENOMEM;
    *run = (struct row_run){(uint32_t)first, (uint32_t)count};
    occupy(room, first, count);
    blocks->next = (uint32_t)first * ROW_BLOCK_CELLS;
    blocks->end = blocks->next + (uint32_t)count * ROW_BLOCK_CELLS;
    return 0;
}

/* In the last run, in its extension, or in a new run: rows of a piece are contiguous. */
int row_allocator_take(struct row_allocator *room, struct row_blocks *blocks, size_t cells,
                       uint32_t *first)
{
    if (cells > blocks->end - blocks->next && !extend_run(room, blocks, cells)) {
        int err = add_run(room, blocks, cells);
        if (err != 0)
            return err;
    }
    *first = blocks->next;
    blocks->next += (uint32_t)cells;
    blocks->cells += cells;
    return 0;
}

void row_allocator_free(struct row_allocator *room, struct row_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        memset(room->is_taken + blocks->runs[i].first, false, blocks->runs[i].count);
    free(blocks->runs);
    *blocks = (struct row_blocks){0};
}
