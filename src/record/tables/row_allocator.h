/* SPDX-License-Identifier: MIT */
/*
 * Who has which part of the shared rows: whole blocks, the first that are free. A module's index and the rows of its
 * pieces lie one behind the other in its blocks, as they are compiled.
 *
 *     ┌──────────────┬──────────────┬──────────────┬──────────────┐
 *     │ A: index rows│ B: index rows│ A: rows rows ▒▒▒▒▒▒▒ free ▒▒▒ …
 *     └──────────────┴──────────────┴──────────────┴──────────────┘
 *
 * Memory that nobody has written yet costs nothing, be it part of a block or not.
 */
#pragma once

#include "wire/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_BLOCK_CELLS 4096u /* 32 KiB */
#define ROW_BLOCKS (SESSION_ROWS / ROW_BLOCK_CELLS)

struct row_allocator {
    struct row *rows; /* the shared ones */
    bool is_taken[ROW_BLOCKS];
    size_t fresh; /* no block from here on was ever taken: it holds zeros */
};

/* What one module has. Starts as zeros. */
struct row_blocks {
    struct row_run {
        uint32_t first, count; /* blocks */
    } * runs;
    size_t count, capacity;
    uint32_t next, end; /* cells of the last run that are free */
    size_t cells;       /* taken so far */
};

/* So many cells one behind the other, the first of which is *first; they hold zeros. 0, -ENOSPC or -ENOMEM. */
int row_allocator_take(struct row_allocator *room, struct row_blocks *blocks, size_t cells,
                       uint32_t *first);
void row_allocator_free(struct row_allocator *room, struct row_blocks *blocks);
