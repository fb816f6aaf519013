/* SPDX-License-Identifier: MIT */
/*
 * The TRACING_DATA feature: tracepoint format descriptions, copied from tracefs. Each part follows
 * its size: page header, ftrace's own events, then, by system, the format files of the recorded
 * events:
 *
 *     name: sched_switch
 *     ID: 314
 *     format:
 *             field:pid_t prev_pid;   offset:24;   size:4;   signed:1;
 */
#pragma once

#include "base/containers/cursor.h"
#include "perfdata/types.h"

/* The format file of a tracepoint, as a cursor over its text; failed if absent. payload: of the
 * feature. */
struct cursor tracing_format(struct cursor payload, uint64_t tracepoint);

/* Finds a field by name in a format file; false: absent. */
bool tracing_field(struct cursor format, const char *name, struct perfdata_field *field);
