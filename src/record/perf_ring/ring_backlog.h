/* SPDX-License-Identifier: MIT */
/*
 * Decoded records between the kernel rings and their work. A stack takes its whole copy size in a
 * ring, 16 KiB or more, and its real size here: a burst of page faults fills a ring in 15 ms, while
 * the walks take longer.
 *
 *     kernel rings ─▶ ring_backlog_add() ─▶ in the order of time ─▶ ring_backlog_next() ─▶ walks
 */
#pragma once

#include "base/containers/buffer.h"
#include "record/perf_ring/ring_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ring_backlog {
    struct buffer bytes;
    size_t at; /* of the next record */
    size_t count;
};

/* False: the backlog is full, or there is no memory. */
bool ring_backlog_add(struct ring_backlog *backlog, const struct ring_record *record);

/* The oldest record; its pointers are valid until the next call of any function here. False: there
 * is none. */
bool ring_backlog_next(struct ring_backlog *backlog, struct ring_record *record);

/* Whether a FORK of this process is among the records. */
bool ring_backlog_has_start(const struct ring_backlog *backlog, pid_t pid);

void ring_backlog_free(struct ring_backlog *backlog);
