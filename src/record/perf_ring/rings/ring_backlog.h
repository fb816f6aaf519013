/* SPDX-License-Identifier: MIT */
/*
 * Decoded records between the kernel rings and their work, in a queue for each ring. A stack takes
 * its whole copy size in a ring, 16 KiB or more, and its real size here: a burst of page faults
 * fills a ring in milliseconds, while the walks take longer.
 *
 *     ring ─▶ ring_backlog_add() ─▶ │ chunk │ chunk │ … ─┐
 *     ring ─▶ ring_backlog_add() ─▶ │ chunk │ ───────────┴▶ ring_backlog_next(): the oldest record
 *
 * Chunks do not move, so a record stays valid while others are added. Calls must not overlap.
 */
#pragma once

#include "record/perf_ring/rings/ring_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct backlog_chunk;

struct backlog_queue {
    struct backlog_chunk *first, *last; /* owned; NULL: nothing was added yet */
    size_t at;                          /* in the first chunk, of the oldest record */
};

struct ring_backlog {
    struct backlog_queue *queues; /* owned */
    size_t queue_count;
    struct backlog_queue *taken; /* its oldest record is in use; NULL: none */
    struct backlog_chunk *spare; /* owned: empty chunks */
    size_t spare_count;
    uint8_t *starts; /* owned: FORK records of each process, without the one in use */
    size_t count;    /* of records, without the one in use */
    size_t bytes;    /* of all records */
};

/* 0 or a negative errno. */
int ring_backlog_open(struct ring_backlog *backlog, size_t ring_count);
void ring_backlog_free(struct ring_backlog *backlog);

/* Records of a ring are in the order of time. False: the backlog is full, or there is no memory. */
bool ring_backlog_add(struct ring_backlog *backlog, size_t ring, const struct ring_record *record);

/* The oldest record up to this time, valid until the next call. NULL: there is none. */
const struct ring_record *ring_backlog_next(struct ring_backlog *backlog, uint64_t until_ns);

/* Whether a FORK of this process is among the records. */
bool ring_backlog_has_start(const struct ring_backlog *backlog, pid_t pid);
