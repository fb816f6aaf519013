/* SPDX-License-Identifier: MIT */
/*
 * The pipe form of perf.data: what stands in the header and behind the data elsewhere comes as
 * records between the others here.
 *
 *     HEADER_ATTR        an event and its ids
 *     EVENT_UPDATE       its name
 *     HEADER_FEATURE     a feature section
 *     HEADER_BUILD_ID    an entry of the BUILD_ID feature, whole
 *     TRACING_DATA       that feature, behind the record
 */
#pragma once

#include "perfdata/events.h"
#include "perfdata/features.h"
#include "perfdata/stream.h"

/* Goes through all records once: build-ids come last. Fills the events, the bits of the header and
 * the sections of the features. 0 or a negative errno; damage is the stream's. */
int pipe_read(struct stream *stream, struct file_header *header, struct event_table *events,
              struct feature_set *features);
