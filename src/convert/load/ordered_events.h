/* SPDX-License-Identifier: MIT */
/*
 * Puts the records of a file in the order of their times. A file is nearly ordered: its writer drains
 * many rings, and after each round over all of them writes a mark. Everything before a mark is older
 * than everything after the next one, so no more than two rounds are held at a time:
 *
 *     records of round 1 │ records of round 2 │ …
 *                      mark 1               mark 2: all that is not younger than mark 1's youngest goes
 *
 * Records with equal times stay in the order of the file; those without a time (0) go first.
 */
#pragma once

#include "perfdata/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int ordered_events_handler(void *context, const struct perfdata_event *event);

struct event_block; /* memory of many events; used again when the last of them was handed out */

struct ordered_entry {
    uint64_t time_ns, sequence;
    const struct perfdata_event *event; /* in the block, with all that it points to; … */
    struct event_block *block;          /* … of plain ones, just what these have */
};

struct ordered_events {
    ordered_events_handler *handle; /* called in order; its error ends the call that caused it */
    void *context;
    /* Told of events whose turn comes soon, of which only what plain ones have may be read; may be NULL. */
    void (*prefetch)(void *context, const struct perfdata_event *event);
    struct ordered_entry *entries;
    size_t count, capacity;
    struct event_block *filling; /* takes the next event; NULL at first */
    struct event_block *spare;   /* without any event */
    uint64_t sequence;
    uint64_t youngest_ns;        /* of all records so far */
    uint64_t before_ns;          /* of all records before the last mark */
    bool is_disordered;          /* some entry may be older than the one before it */
    struct perfdata_event plain; /* that was handed out last */
};

/* Takes a copy of the event. 0 or -ENOMEM. */
int ordered_events_add(struct ordered_events *events, const struct perfdata_event *event);

/* At a mark: hands out what is complete. */
int ordered_events_flush(struct ordered_events *events);

/* At the end: hands out the rest. */
int ordered_events_finish(struct ordered_events *events);

void ordered_events_free(struct ordered_events *events);
