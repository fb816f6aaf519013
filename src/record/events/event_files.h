/* SPDX-License-Identifier: MIT */
/* Events described by files of the kernel: fields of a PMU, and tracepoints. */
#pragma once

#include "record/events/event_request.h"

extern const struct event_roots event_roots_system;

/* pmu: "cpu"; terms: "event=0x3c,umask=1" or the name of an event of the PMU. 0, -ENOENT: no such
 * PMU or term; -EINVAL: a value that does not fit. */
int event_files_pmu(struct event_request *request, const struct event_roots *roots, const char *pmu,
                    const char *terms);

/* -ENOENT: no such tracepoint; -EACCES: tracefs is not readable. */
int event_files_tracepoint(struct event_request *request, const struct event_roots *roots,
                           const char *system, const char *name);
