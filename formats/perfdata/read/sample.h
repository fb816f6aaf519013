/* SPDX-License-Identifier: MIT */
/* SAMPLE records: fields in the order of sample_type. */
#pragma once

#include "perfdata/read/events.h"

/* Holds the words of a record in host byte order and alignment, until the next record. */
struct sample_words {
    uint64_t callchain[RECORD_BYTES_MAX / 8 + 1];
    struct perfdata_branch branches[RECORD_BYTES_MAX / BRANCH_ENTRY_BYTES + 1];
    struct perfdata_namespace namespaces[RECORD_BYTES_MAX / 16 + 1];
    struct perfdata_count counts[RECORD_BYTES_MAX / 8 + 1];
    uint64_t registers[64];
};

/* body: the record without its header. False: a required field is missing. */
bool sample_decode(struct cursor body, const struct event_table *events, struct sample_words *words,
                   struct perfdata_event *event);

/* A count and as many addresses; fails the cursor when they are not there. */
void sample_callchain(struct cursor *c, struct sample_words *words, struct perfdata_event *event);
