/* SPDX-License-Identifier: MIT */
/*
 * One ring: one thread writes, the launcher reads. Positions only grow; the place of a record is
 * (position - base) % size.
 *
 *     data   ▒▒▒▒▒▒▒▒│■■■■■■■■■■■■■■■■■■■│▒▒▒▒▒▒▒▒▒│░░░░│
 *                  tail                head      padding: no room for the next record
 *
 * A record is contiguous. The writer fills the space after head and publishes the record by moving
 * head (release); a writer that dies half-way leaves nothing. A full ring drops the newest record:
 * the caller counts the loss.
 *
 * An empty ring begins again at its first byte (base = head): the memory and cache use of a thread
 * is bounded by the bytes written between two rounds of the launcher. The launcher reads base after
 * a head beyond its tail: base stays until the launcher has given the space back.
 *
 * The writer keeps head and base in private memory and only publishes them, and each place is a
 * multiple of 8 below the ring's size whatever the positions are: no value in shared memory leads a
 * record out of the ring.
 *
 * Nothing here calls another function. Async-signal-safe.
 */
#pragma once

#include "wire/atomic.h"
#include "wire/records.h"
#include "wire/session.h"

struct ring {
    struct ring_control *control;
    uint8_t *data;
    uint64_t head, base; /* the writer's private copies; a claimed slot begins with 0 */
};

/* The place of a position in the ring: a multiple of 8, so the size and kind of a padding always
 * fit. Async-signal-safe. */
static inline uint64_t ring_place(uint64_t base, uint64_t position)
{
    return (position - base) % SESSION_RING_BYTES & ~UINT64_C(7);
}

/* Free bytes of the ring; 0 also for an impossible tail. For the writer. Async-signal-safe. */
static inline uint64_t ring_room(const struct ring *ring)
{
    uint64_t used = ring->head - load_relaxed(&ring->control->tail);
    return used < SESSION_RING_BYTES ? SESSION_RING_BYTES - used : 0;
}

/* A contiguous place for up to `bytes` (a multiple of 8, at most half a ring), or NULL when the
 * ring is full. ring_commit() takes *position. Async-signal-safe. */
static inline uint8_t *ring_reserve(struct ring *ring, uint32_t bytes, uint64_t *position)
{
    uint64_t tail = load_acquire(&ring->control->tail); /* everything before has been read */
    uint64_t used = ring->head - tail;
    if (used == 0) {
        ring->base = ring->head;
        store_relaxed(&ring->control->base, ring->base); /* published by the next head */
    }
    uint64_t at = ring_place(ring->base, ring->head);
    uint64_t to_end = SESSION_RING_BYTES - at;
    uint64_t padding = to_end < bytes ? to_end : 0;
    if (used > SESSION_RING_BYTES || SESSION_RING_BYTES - used < padding + bytes)
        return 0;
    if (padding) {
        struct record_header *header = (struct record_header *)(void *)(ring->data + at);
        header->bytes = (uint32_t)padding;
        header->kind = RECORD_PADDING;
        at = 0;
    }
    *position = ring->head + padding;
    return ring->data + at;
}

/* Publishes the record at *position. Async-signal-safe. */
static inline void ring_commit(struct ring *ring, uint64_t position, uint32_t bytes)
{
    ring->head = position + bytes;
    store_release(&ring->control->head, ring->head); /* publishes the record's bytes */
}
