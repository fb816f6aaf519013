/* SPDX-License-Identifier: MIT */
/*
 * A bounded view of a file of any size: captures may be larger than memory. While one block is looked at, a thread
 * reads the next ones, since copying out of the page cache takes as long as all that is done with it; where it takes
 * longer, this one helps. What reaches from one block into the next is put before that:
 *
 *     file     ├──────────── block ────────────┼──────────── block ────────────┤
 *                                         ├ record ┤
 *     memory   │ room ├──────── block ────┼────┤   │ room ┼────┼──────── block ────────────┤
 */
#pragma once

#include "base/aside.h"

#include <stddef.h>
#include <stdint.h>

enum { WINDOW_BLOCKS_AHEAD = 8 };

struct window_block;

struct window {
    int fd;
    uint64_t file_bytes;
    struct window_block *at_hand;                    /* NULL: none yet */
    struct window_block *ahead[WINDOW_BLOCKS_AHEAD]; /* are being read, or were; by number */
    uint64_t given, taken;                           /* numbers of the next */
    uint64_t ahead_bytes; /* file offset of the end of the last that was given */
    struct window_block *spare;
    struct aside aside;
};

void window_open(struct window *window, int fd, uint64_t file_bytes);
/* pre: nothing is held any more. */
void window_close(struct window *window);
/* Another file in place of this one. There is no thread until something is read. */
void window_reuse(struct window *window, int fd, uint64_t file_bytes);

/* size (at most 64 KiB) bytes at an offset of the file, valid until the next call, and while the block is
 * held; *there: how many there are from the offset on, which may be more. The range must lie in the file; -ENODATA when
 * the file was shortened meanwhile, or -ENOMEM. */
int window_get(struct window *window, uint64_t offset, size_t size, const uint8_t **bytes,
               size_t *there);

/* Of the bytes that were got last. */
struct window_block *window_block(const struct window *window);
void window_block_hold(struct window_block *block);
void window_block_release(struct window_block *block);
