/* SPDX-License-Identifier: MIT */
/*
 * Events of -e: a name becomes the members of perf_event_attr(2).
 *
 *     cycles, page-faults, LLC-load-misses   tables of linux/perf_event.h
 *     rNNN                                   raw code of the processor
 *     cpu/event=0x3c,umask=1/                sysfs: format of the PMU's fields, names of its events
 *     sched:sched_switch                     tracefs: id of the tracepoint
 */
#pragma once

#include "record/events/event_request.h"

/* NAME[:MODIFIERS], period and frequency left 0. 0, or -EINVAL, -ENOENT, -EACCES with a message. */
int event_parse(struct event_request *request, const char *text, const struct event_roots *roots,
                struct error *error);
