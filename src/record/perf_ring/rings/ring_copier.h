/* SPDX-License-Identifier: MIT */
/*
 * A thread that only copies records out of the kernel rings, in time before a burst of events fills
 * them. The first walk through a module takes tens of milliseconds on a busy machine; the scheduler
 * prefers a thread that uses little CPU time to the thread of the walks.
 *
 *     kernel rings ─▶ the thread, or ring_copier_copy() ─▶ ring_backlog ─▶ ring_copier_next()
 */
#pragma once

#include "record/perf_ring/rings/kernel_ring.h"
#include "record/perf_ring/rings/ring_backlog.h"

#include <poll.h>
#include <pthread.h>

struct ring_copier {
    struct kernel_ring *rings; /* borrowed */
    size_t ring_count;
    struct ring_backlog backlog;
    pthread_mutex_t copying; /* held while records leave the rings, before `lock` */
    pthread_mutex_t lock;    /* of the backlog */
    pthread_t thread;
    bool has_thread;
    struct pollfd *polled; /* owned: the rings, and stop_fd */
    int stop_fd;           /* eventfd; owned */
    int copied_fd;         /* eventfd: the thread has copied records; owned */
};

/* The rings outlive the copier. 0 or a negative errno; ring_copier_free() in any case. */
int ring_copier_start(struct ring_copier *copier, struct kernel_ring *rings, size_t ring_count);
/* Ends the thread. The copied records stay. */
void ring_copier_stop(struct ring_copier *copier);
void ring_copier_free(struct ring_copier *copier);

/* Copies the records that are in the rings now. */
void ring_copier_copy(struct ring_copier *copier);

/* The oldest copied record up to this time, valid until the next call. NULL: there is none. */
const struct ring_record *ring_copier_next(struct ring_copier *copier, uint64_t until_ns);

/* Whether there are copied records. */
bool ring_copier_has_records(struct ring_copier *copier);

/* Whether a FORK of this process is among the copied records. */
bool ring_copier_has_start(struct ring_copier *copier, pid_t pid);
