/* SPDX-License-Identifier: MIT */
/*
 * The TRACING_DATA feature: the kernel's own descriptions of its tracepoints, as tracefs shows them.
 * Parts, each with its size before it: page header, ftrace's own events, then by system the format
 * files of the events that were recorded:
 *
 *     name: sched_switch
 *     ID: 314
 *     format:
 *             field:pid_t prev_pid;   offset:24;   size:4;   signed:1;
 */
#pragma once

#include "base/cursor.h"
#include "perfdata/types.h"

/* The format file of a tracepoint, as a cursor over its text; failed when it is not there. payload:
 * of the feature. */
struct cursor tracing_format(struct cursor payload, uint64_t tracepoint);

/* A field in a format file; false when it has none of that name. */
bool tracing_field(struct cursor format, const char *name, struct perfdata_field *field);
