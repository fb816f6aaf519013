/* SPDX-License-Identifier: MIT */
/*
 * Sorts the records of a file by time. A file is nearly sorted: its writer drains many rings in
 * rounds, and writes a mark after each round. All records before a mark are older than all records
 * after the next mark, so at most two rounds are queued at a time:
 *
 *     records of round 1 │ records of round 2 │ …
 *                      mark 1               mark 2: hand out all up to mark 1's youngest record
 *
 * Records with equal times stay in the order of the file; records without a time (0) go first.
 * Records are queued raw, and decoded by handle(): nothing in the queue points to anything but the
 * bytes of a record.
 */
#pragma once

#include "perfdata/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_block; /* memory for copies of records; reused once empty */

struct ordered_record {
    uint64_t sequence;
    uint64_t callchain_hash; /* of the caller; 0: none */
    struct perfdata_record record;
    struct record_block *block; /* memory of a copied body; NULL: the body is held by the reader */
};

struct ordered_events {
    /* Called in the order of time. An error ends the calling function. */
    int (*handle)(void *context, const struct ordered_record *record);
    /* Called a few records ahead of handle(); may be NULL. */
    void (*prefetch)(void *context, const struct ordered_record *record);
    void *context;
    struct ordered_record *records;
    size_t count, capacity;
    struct record_block *filling; /* takes the next copy; NULL at first */
    struct record_block *spare;
    uint64_t sequence;
    uint64_t youngest_ns; /* of all records so far */
    uint64_t before_ns;   /* of all records before the last mark */
    bool is_disordered;   /* a record may be older than the record before */
};

/* The next record of the file: queues the record, with its bytes held or copied; at a mark, hands
 * out the complete rounds. 0, -ENOMEM, or the error of handle(). */
int ordered_events_add(struct ordered_events *events, const struct perfdata_record *added,
                       uint64_t callchain_hash);

/* At the end: hands out the rest. Returns as above. */
int ordered_events_finish(struct ordered_events *events);

void ordered_events_free(struct ordered_events *events);
