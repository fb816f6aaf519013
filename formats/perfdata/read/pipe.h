/* SPDX-License-Identifier: MIT */
/*
 * The pipe form of perf.data: metadata comes as records among the data instead of in the header and
 * after the data.
 *
 *     HEADER_ATTR        an event and its ids
 *     EVENT_UPDATE       the name of an event
 *     HEADER_FEATURE     a feature section
 *     HEADER_BUILD_ID    an entry of the BUILD_ID feature
 *     TRACING_DATA       the feature's payload, after the record
 */
#pragma once

#include "perfdata/read/events.h"
#include "perfdata/read/features.h"
#include "perfdata/read/stream.h"

/* Goes through all records once: build-ids come last. Fills the events, the bits of the header and
 * the sections of the features. 0 or a negative errno; damage is the stream's. */
int pipe_read(struct stream *stream, struct file_header *header, struct event_table *events,
              struct feature_set *features);
