/* SPDX-License-Identifier: MIT */
/*
 * FINISHED_ROUND records: readers sort events between two of them; hotspot discards the older half
 * at each. So these rounds are longer than anything is under way, mappings above all, and short
 * enough that readers hold little.
 */
#pragma once

#include "perfdata/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct finished_round {
    uint64_t begin_bytes; /* size of the file at the end of the last one, */
    uint64_t end_ns;      /* and its time */
};

/* What is under way is older than the records to come. */
struct finished_round_facts {
    uint64_t now_ns;
    bool has_pending;      /* samples wait */
    bool has_map_requests; /* mappings come within a second or not at all */
};

/* The file has grown for long enough, or by enough bytes. */
bool finished_round_is_due(const struct finished_round *round, const struct perfdata_writer *file,
                           uint64_t now_ns);

/* Writes a FINISHED_ROUND if one is due and nothing older is under way. */
void finished_round_write(struct finished_round *round, struct perfdata_writer *file,
                          const struct finished_round_facts *facts);
