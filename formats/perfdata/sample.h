/* SPDX-License-Identifier: MIT */
/* SAMPLE records: fields in the order of sample_type. */
#pragma once

#include "perfdata/events.h"

/* Where the words of one sample live in host byte order and alignment, until the next sample. */
struct sample_words {
    uint64_t callchain[RECORD_BYTES_MAX / 8 + 1];
    uint64_t registers[64];
};

/* body: the record without its header. False: the record does not hold the fields it must. */
bool sample_decode(struct cursor body, const struct event_table *events, struct sample_words *words,
                   struct perfdata_event *event);
