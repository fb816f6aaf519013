/* SPDX-License-Identifier: MIT */
/*
 * A bounded view of a file of any size: captures may exceed memory. While the reader processes a
 * block, a helper thread reads the next blocks, because copying from the page cache takes as long
 * as processing; the reader helps if the thread falls behind. The start of a record that spans
 * blocks is copied in front of the second block:
 *
 *     file     ├──────────── block ────────────┼──────────── block ────────────┤
 *                                         ├ record ┤
 *     memory   │ room ├──────── block ────┼────┤   │ room ┼────┼──────── block ────────────┤
 */
#pragma once

#include "base/helper_thread.h"

#include <stddef.h>
#include <stdint.h>

enum { WINDOW_BLOCKS_AHEAD = 8 };

struct window_block;

struct window {
    int fd;
    uint64_t file_bytes;
    struct window_block *at_hand;                    /* of the last window_get(); NULL: none yet */
    struct window_block *ahead[WINDOW_BLOCKS_AHEAD]; /* are being read, or were; by number */
    uint64_t given, taken;                           /* numbers of the next */
    uint64_t ahead_bytes; /* file offset after the last submitted block */
    struct window_block *spare;
    struct helper_thread helper;
};

void window_open(struct window *window, int fd, uint64_t file_bytes);
/* pre: nothing is held any more. */
void window_close(struct window *window);
/* Switches to another file. The helper thread starts with the first read. */
void window_reuse(struct window *window, int fd, uint64_t file_bytes);

/* Returns size (at most 64 KiB) bytes at a file offset, valid until the next call, or while the
 * block is held; *there: number of available bytes, at least size. The range must lie in the
 * file; -ENODATA if the file was truncated meanwhile, or -ENOMEM. */
int window_get(struct window *window, uint64_t offset, size_t size, const uint8_t **bytes,
               size_t *there);

void window_block_hold(struct window_block *block);
void window_block_release(struct window_block *block);
