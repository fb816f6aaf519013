/* SPDX-License-Identifier: MIT */
#include "perfdata/window.h"

#include "base/io.h"
#include "base/table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Handing a block over costs as much as copying a tenth of the larger one, which fills a large page: of small pages each
 * costs a fault, the longer the more threads there are. Too much for small files, of which no more is read than stays
 * in the caches. */
enum {
    SMALL_BLOCK_BYTES = 1 << 18,
    LARGE_FILE_BYTES = 1 << 24,
    ROOM_BYTES = 1 << 16,
    HEADER_BYTES = 1 << 12, /* the rest of the struct, at most */
    PIECE_BYTES = 1 << 17,  /* so little is read in 20 us */
    BLOCK_BYTES = TABLE_LARGE_PAGE_BYTES - ROOM_BYTES - HEADER_BYTES,
};

struct window_block {
    struct window *window;
    struct window_block *next_spare;
    size_t holds;
    _Atomic size_t begun; /* of its bytes, reading; … */
    _Atomic int err;      /* … of any of it */
    uint64_t start;       /* file offset of bytes[0] */
    size_t size;
    uint8_t *bytes;   /* in memory, at its end or before it */
    size_t most;      /* bytes that a block of its file has */
    uint8_t memory[]; /* ROOM_BYTES, and as many */
};
_Static_assert(sizeof(struct window_block) <= HEADER_BYTES, "a large block is one large page");

void window_open(struct window *window, int fd, uint64_t file_bytes)
{
    *window = (struct window){.fd = fd, .file_bytes = file_bytes};
}

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

static void forget(struct window *window)
{
    aside_stop(&window->aside);
    window_block_release(window->at_hand);
    window_block_release(window->next);
    window->at_hand = window->next = NULL;
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

static bool is_large(const struct window *window)
{
    return window->file_bytes >= LARGE_FILE_BYTES;
}

/* Those of another file may be smaller. */
static struct window_block *take_spare(struct window *window, size_t most)
{
    struct window_block *block;
    while ((block = window->spare)) {
        window->spare = block->next_spare;
        if (block->most == most)
            break;
        free(block);
    }
    return block;
}

static struct window_block *allocate(size_t most)
{
    struct window_block *block = most == BLOCK_BYTES ? table_room(TABLE_LARGE_PAGE_BYTES)
                                                     : malloc(sizeof(*block) + ROOM_BYTES + most);
    if (block)
        block->most = most;
    return block;
}

static struct window_block *new_block(struct window *window, uint64_t start)
{
    uint64_t left = window->file_bytes - start;
    size_t most = is_large(window) ? BLOCK_BYTES : SMALL_BLOCK_BYTES;
    struct window_block *block = take_spare(window, most) ?: allocate(most);
    if (!block)
        return NULL;
    block->window = window;
    block->holds = 1;
    block->begun = 0;
    block->err = 0;
    block->start = start;
    block->size = left < most ? (size_t)left : most;
    block->bytes = block->memory + ROOM_BYTES;
    return block;
}

/* Piece by piece, while there are any: whoever needs the block helps who has begun. */
static void read_block(void *context)
{
    struct window_block *block = context;
    size_t at;
    while ((at = atomic_fetch_add(&block->begun, PIECE_BYTES)) < block->size) {
        size_t left = block->size - at;
        int err = io_pread(block->window->fd, block->bytes + at,
                           left < PIECE_BYTES ? left : PIECE_BYTES, block->start + at);
        if (err)
            block->err = err;
    }
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

static void read_ahead(struct window *window)
{
    uint64_t end = end_of(window->at_hand);
    if (is_large(window) && end < window->file_bytes && (window->next = new_block(window, end)))
        aside_do(&window->aside, read_block, window->next);
}

/* Puts what is left of the block before it in front of a block. */
static void join(struct window_block *block, const struct window_block *before, uint64_t offset)
{
    size_t left = (size_t)(end_of(before) - offset);
    block->bytes -= left;
    block->start -= left;
    block->size += left;
    memcpy(block->bytes, before->bytes + (offset - before->start), left);
}

/* The block that was read ahead, when it is the one for this offset. */
static struct window_block *take_next(struct window *window, uint64_t offset)
{
    struct window_block *before = window->at_hand, *block = window->next;
    if (block)
        read_block(block);
    aside_wait(&window->aside);
    window->next = NULL;
    if (block && has(before, offset, 0) && end_of(before) - offset <= ROOM_BYTES) {
        join(block, before, offset);
        return block;
    }
    window_block_release(block);
    return NULL;
}

static int go_to(struct window *window, uint64_t offset)
{
    struct window_block *block = take_next(window, offset);
    window_block_release(window->at_hand);
    window->at_hand = NULL;
    if (!block) {
        if (!(block = new_block(window, offset)))
            return -ENOMEM;
        read_block(block);
    }
    if (block->err) {
        int err = block->err;
        window_block_release(block);
        return err;
    }
    window->at_hand = block;
    read_ahead(window);
    return 0;
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

struct window_block *window_block(const struct window *window)
{
    return window->at_hand;
}
