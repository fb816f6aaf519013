/* SPDX-License-Identifier: MIT */
/*
 * Allocates the shared rows in whole blocks, first fit. The index and the rows of a module are
 * placed one after the other in its blocks, as they are compiled.
 *
 *     ┌──────────────┬──────────────┬──────────────┬──────────────┐
 *     │ A: index rows│ B: index rows│ A: rows rows ▒▒▒▒▒▒▒ free ▒▒▒ …
 *     └──────────────┴──────────────┴──────────────┴──────────────┘
 *
 * Unwritten memory has no pages, inside of a block too.
 */
#pragma once

#include "wire/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_BLOCK_CELLS 4096u /* 32 KiB */
#define ROW_BLOCKS (SESSION_ROWS / ROW_BLOCK_CELLS)

struct row_allocator {
    struct row *rows; /* in shared memory */
    bool is_taken[ROW_BLOCKS];
    size_t fresh; /* blocks from here on are untouched: zeros */
};

/* The blocks of a module. Starts as zeros. */
struct row_blocks {
    struct row_run {
        uint32_t first, count; /* blocks */
    } * runs;
    size_t count, capacity;
    uint32_t next, end; /* free cells of the last run */
    size_t cells;       /* taken so far */
};

/* Takes adjacent cells, all zero; *first is the number of the first cell. 0, -ENOSPC or
 * -ENOMEM. */
int row_allocator_take(struct row_allocator *room, struct row_blocks *blocks, size_t cells,
                       uint32_t *first);
void row_allocator_free(struct row_allocator *room, struct row_blocks *blocks);
