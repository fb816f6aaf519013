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

/* Sets event and time of a record, without decoding the rest. UINT32_MAX: an undescribed event.
 * Time 0: none, or malformed. */
void sample_peek(const struct cursor *body, const struct event_table *events,
                 struct perfdata_record *record);

/* body: the record without its header; event->record is set. False: a required field is missing. */
bool sample_decode(struct cursor *body, const struct event_table *events,
                   struct sample_words *words, struct perfdata_event *event);

/* Without decoding the rest. False: none, or malformed. */
bool sample_find_stack(const struct cursor *body, const struct event_attr *attr,
                       struct perfdata_stack *stack);

/* A count and as many addresses; fails the cursor when they are not there. */
void sample_callchain(struct cursor *c, struct sample_words *words, struct perfdata_event *event);
