/* SPDX-License-Identifier: MIT */
/* The recording's summary with labels and units for users. */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

/*
 * Appends a JSON object for each note to an open array, without counters of 0:
 *
 *     {"label": "Run time", "format": "duration", "value": 12.5}
 *
 * Formats are marker formats of the Firefox Profiler: "duration" in ms, "integer", "string".
 */
void export_write_notes(const struct profile *profile, struct buffer *out);
