/* SPDX-License-Identifier: MIT */
#include "perfdata/read/window.h"

#include "base/files/io.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Small files are read without the helper thread: its start-up costs more than the reading. */
enum {
    LARGE_FILE_BYTES = 1 << 24,
    ROOM_BYTES = 1 << 16,
    BLOCK_BYTES = 1 << 18,
    PIECE_BYTES = 1 << 17, /* so little is read in 20 us */
    PIECES = BLOCK_BYTES / PIECE_BYTES,
};

struct window_block {
    struct window *window;
    struct window_block *next_spare;
    size_t holds;
    _Atomic size_t unread; /* pieces */
    _Atomic int err;       /* of any of them */
    uint64_t start;        /* file offset of bytes[0] */
    size_t size;
    uint8_t *bytes; /* in `memory`, at ROOM_BYTES or earlier */
    uint8_t memory[ROOM_BYTES + BLOCK_BYTES];
};

void window_block_hold(struct window_block *block)
{
    block->holds++;
}

void window_block_release(struct window_block *block)
{
    if (!block || --block->holds != 0)
        return;
    block->next_spare = block->window->spare;
    block->window->spare = block;
}

static struct window_block **place_of(struct window *window, uint64_t number)
{
    return &window->ahead[number % WINDOW_BLOCKS_AHEAD];
}

static bool is_large(const struct window *window)
{
    return window->file_bytes >= LARGE_FILE_BYTES;
}

static struct window_block *new_block(struct window *window)
{
    struct window_block *block = window->spare;
    uint64_t left = window->file_bytes - window->ahead_bytes;
    if (block)
        window->spare = block->next_spare;
    else if (!(block = malloc(sizeof(*block))))
        return NULL;
    block->window = window;
    block->holds = 1;
    block->unread = PIECES;
    block->err = 0;
    block->start = window->ahead_bytes;
    block->size = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    block->bytes = block->memory + ROOM_BYTES;
    return block;
}

static void read_piece(void *context, uint64_t piece)
{
    struct window *window = context;
    struct window_block *block = *place_of(window, piece / PIECES);
    size_t at = (size_t)(piece % PIECES) * PIECE_BYTES;
    if (at < block->size) {
        size_t left = block->size - at;
        int err = io_pread(window->fd, block->bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES,
                           block->start + at);
        if (err)
            block->err = err;
    }
    block->unread--;
}

void window_open(struct window *window, int fd, uint64_t file_bytes)
{
    *window = (struct window){
        .fd = fd, .file_bytes = file_bytes, .helper = {.run = read_piece, .context = window}};
}

static void forget(struct window *window)
{
    helper_thread_stop(&window->helper);
    window_block_release(window->at_hand);
    window->at_hand = NULL;
    while (window->taken < window->given)
        window_block_release(*place_of(window, window->taken++));
    window->given = window->taken = 0;
}

void window_close(struct window *window)
{
    forget(window);
    for (struct window_block *next; window->spare; window->spare = next) {
        next = window->spare->next_spare;
        free(window->spare);
    }
}

void window_reuse(struct window *window, int fd, uint64_t file_bytes)
{
    forget(window);
    window->fd = fd;
    window->file_bytes = file_bytes;
}

static bool has(const struct window_block *block, uint64_t offset, size_t size)
{
    uint64_t skip = offset - block->start;
    return offset >= block->start && skip <= block->size && size <= block->size - skip;
}

static uint64_t end_of(const struct window_block *block)
{
    return block->start + block->size;
}

static void read_ahead(struct window *window, uint64_t most)
{
    uint64_t before = window->given;
    struct window_block *block;
    while (window->given - window->taken < most && window->ahead_bytes < window->file_bytes &&
           (block = new_block(window))) {
        *place_of(window, window->given++) = block;
        window->ahead_bytes += block->size;
    }
    helper_thread_submit(&window->helper, (window->given - before) * PIECES, most * PIECES / 2);
}

/* Copies the rest of the previous block in front of a block. */
static void join(struct window_block *block, const struct window_block *before, uint64_t offset)
{
    size_t left = (size_t)(end_of(before) - offset);
    block->bytes -= left;
    block->start -= left;
    block->size += left;
    memcpy(block->bytes, before->bytes + (offset - before->start), left);
}

/* Whether the next block continues at the offset, or at the end of the current block's rest. */
static bool is_ahead(struct window *window, uint64_t offset)
{
    const struct window_block *before = window->at_hand;
    if (window->taken == window->given)
        return false;
    uint64_t start = (*place_of(window, window->taken))->start;
    return offset == start || (before && end_of(before) == start && has(before, offset, 0) &&
                               start - offset <= ROOM_BYTES);
}

static void drop_all(struct window *window)
{
    uint64_t piece;
    while (helper_thread_claim(&window->helper, &piece))
        (*place_of(window, piece / PIECES))->unread--;
    for (; window->taken < window->given; window->taken++) {
        struct window_block *block = *place_of(window, window->taken);
        helper_thread_wait(&window->helper, &block->unread);
        window_block_release(block);
    }
    window_block_release(window->at_hand);
    window->at_hand = NULL;
}

/* Carries the rest of the current block over. */
static int take_next(struct window *window, uint64_t offset)
{
    struct window_block *block = *place_of(window, window->taken), *before = window->at_hand;
    helper_thread_wait(&window->helper, &block->unread);
    window->taken++;
    int err = block->err;
    if (err == 0 && offset < block->start)
        join(block, before, offset);
    window_block_release(err ? block : before);
    if (err == 0)
        window->at_hand = block;
    return err;
}

static int go_to(struct window *window, uint64_t offset)
{
    if (!is_ahead(window, offset)) {
        drop_all(window);
        window->ahead_bytes = offset;
        read_ahead(window, 1);
        if (window->taken == window->given)
            return -ENOMEM;
    }
    int err = take_next(window, offset);
    if (err == 0 && is_large(window)) {
        helper_thread_start(&window->helper);
        read_ahead(window, WINDOW_BLOCKS_AHEAD);
    }
    return err;
}

int window_get(struct window *window, uint64_t offset, size_t size, const uint8_t **bytes,
               size_t *there)
{
    if (!window->at_hand || !has(window->at_hand, offset, size)) {
        int err = go_to(window, offset);
        if (err)
            return err;
    }
    const struct window_block *block = window->at_hand;
    size_t skip = (size_t)(offset - block->start);
    *bytes = block->bytes + skip;
    *there = block->size - skip;
    return 0;
}
