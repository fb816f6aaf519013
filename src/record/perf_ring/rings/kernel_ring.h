/* SPDX-License-Identifier: MIT */
/*
 * A ring of the kernel for one processor. Events on any thread write into the ring through
 * PERF_EVENT_IOC_SET_OUTPUT; the ring belongs to an event without records on rec itself, so the
 * end of a target leaves the ring open.
 *
 *     tail ─▶ record │ record │ … ◀─ head       rec moves tail, the kernel moves head
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct kernel_ring {
    int fd;
    uint32_t processor;
    uint32_t event; /* of the recording: each has rings of its own */
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    size_t data_bytes; /* a power of two */
    uint64_t head, tail;
    uint8_t *joined; /* a record across the end of the ring */
};

/* 0 or a negative errno. The memory counts as locked: less than data_bytes is taken when the limit
 * of the user is lower. wakeup_bytes: of new records wake the reader. */
int kernel_ring_open(struct kernel_ring *ring, uint32_t processor, size_t data_bytes,
                     size_t wakeup_bytes);
void kernel_ring_close(struct kernel_ring *ring);

/* Takes the records written since the last call into view. */
void kernel_ring_look(struct kernel_ring *ring);
/* The next record, header included, valid until kernel_ring_advance(); NULL: none in view. */
const uint8_t *kernel_ring_next(struct kernel_ring *ring, size_t *bytes);
/* Frees the place of the record from kernel_ring_next(). */
void kernel_ring_advance(struct kernel_ring *ring, size_t bytes);
/* Frees all records in view unread. */
void kernel_ring_skip(struct kernel_ring *ring);
