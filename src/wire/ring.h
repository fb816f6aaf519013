/* SPDX-License-Identifier: MIT */
/*
 * One ring: one thread writes, the launcher reads. Positions only grow; (position - base) % size is the place.
 *
 *     data   ▒▒▒▒▒▒▒▒│■■■■■■■■■■■■■■■■■■■│▒▒▒▒▒▒▒▒▒│░░░░│
 *                  tail                head      padding: the next record did not fit before the end
 *
 * A record is contiguous. It is written beyond head and becomes visible by moving head (release); a
 * writer that dies half-way leaves nothing. A full ring drops the newest: the caller counts it.
 *
 * An empty ring begins again at its first byte (base = head): a thread uses no more memory, and pushes no more
 * out of the program's caches, than it writes between two looks of the launcher. The launcher reads base after
 * a head that is beyond its tail: until it has given that space back, base stays.
 *
 * Nothing here calls anything. Async-signal-safe.
 */
#pragma once

#include "wire/atomic.h"
#include "wire/records.h"
#include "wire/session.h"

struct ring {
    struct ring_control *control;
    uint8_t *data;
};

/* Whatever the base, it is inside of the ring. Async-signal-safe. */
static inline uint64_t ring_place(const struct ring_control *control, uint64_t position)
{
    return (position - load_relaxed(&control->base)) % SESSION_RING_BYTES;
}

/* Bytes of the ring that are free; 0 also when its positions make no sense. Async-signal-safe. */
static inline uint64_t ring_room(const struct ring *ring)
{
    uint64_t used = load_relaxed(&ring->control->head) - load_relaxed(&ring->control->tail);
    return used < SESSION_RING_BYTES ? SESSION_RING_BYTES - used : 0;
}

/* A contiguous place for up to `bytes` (a multiple of 8, at most half a ring), or NULL when the ring is
 * full. *position is what ring_commit() wants back. Async-signal-safe. */
static inline uint8_t *ring_reserve(const struct ring *ring, uint32_t bytes, uint64_t *position)
{
    uint64_t head = load_relaxed(&ring->control->head); /* ours */
    uint64_t tail = load_acquire(&ring->control->tail); /* what lies before it has been read */
    uint64_t used = head - tail;
    if (used == 0)
        store_relaxed(&ring->control->base, head); /* published by the next head */
    uint64_t at = ring_place(ring->control, head);
    uint64_t to_end = SESSION_RING_BYTES - at;
    uint64_t padding = to_end < bytes ? to_end : 0;
    if (used > SESSION_RING_BYTES || SESSION_RING_BYTES - used < padding + bytes)
        return 0;
    if (padding) {
        /* Positions are multiples of 8, so the padding's size and kind always fit. */
        struct record_header *header = (struct record_header *)(void *)(ring->data + at);
        header->bytes = (uint32_t)padding;
        header->kind = RECORD_PADDING;
        at = 0;
    }
    *position = head + padding;
    return ring->data + at;
}

/* Publishes the record that was written at *position. Async-signal-safe. */
static inline void ring_commit(const struct ring *ring, uint64_t position, uint32_t bytes)
{
    store_release(&ring->control->head, position + bytes); /* publishes the record's bytes */
}
