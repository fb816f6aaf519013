/* SPDX-License-Identifier: MIT */
/*
 * FINISHED_ROUND records: readers sort events between two marks; hotspot discards the older half at
 * each mark. These rounds are therefore longer than any pending record, mappings above all, and
 * short enough for a small memory of readers.
 */
#pragma once

#include "perfdata/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct finished_round {
    uint64_t begin_bytes; /* size of the file at the end of the last round, */
    uint64_t end_ns;      /* and its time */
    uint64_t hold_ns;     /* no shorter round: records may be that old */
};

/* Pending records are older than all records to come. */
struct finished_round_facts {
    uint64_t now_ns;
    bool has_pending;      /* samples wait */
    bool has_map_requests; /* mappings come within a second or not at all */
    bool has_left;         /* records of full rings wait for the next rounds */
};

/* The file has grown for long enough, or by enough bytes. */
bool finished_round_is_due(const struct finished_round *round, const struct perfdata_writer *file,
                           uint64_t now_ns);

/* Writes a FINISHED_ROUND if due, and if no older record is pending. */
void finished_round_write(struct finished_round *round, struct perfdata_writer *file,
                          const struct finished_round_facts *facts);
