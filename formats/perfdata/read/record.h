/* SPDX-License-Identifier: MIT */
/* Records other than SAMPLE: tasks, mappings, switches, losses. */
#pragma once

#include "perfdata/read/events.h"
#include "perfdata/read/features.h"
#include "perfdata/read/sample.h"

/* body: the record without its header; event->record is set. False: a required
 * field is missing. */
bool record_decode(struct cursor body, const struct event_table *events,
                   const struct feature_set *features, struct sample_words *words,
                   struct perfdata_event *event);

/* Without decoding the rest; 0: none. */
uint64_t record_time(struct cursor body, uint32_t record_type, const struct event_table *events);
