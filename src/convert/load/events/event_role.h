/* SPDX-License-Identifier: MIT */
/* The events of a file whose samples are more than a weight at a stack, by type and name. */
#pragma once

#include "perfdata/types.h"

/* Waiting time in ns: recorded by rec, or from the switches of a recording. */
#define EVENTS_OFF_CPU "off-cpu"
/* As named by `perf record --off-cpu` (tools/perf/util/off_cpu.h). */
#define OFF_CPU_PERF_EVENT "offcpu-time"

enum event_role {
    EVENT_UNSEEN, /* no sample yet */
    EVENT_PLAIN,
    EVENT_SCHED_SWITCH,
    EVENT_WAKEUP, /* sched:sched_waking, sched:sched_wakeup */
    EVENT_CONTEXT_SWITCH,
    EVENT_OFF_CPU,      /* of rec: the time is the start of the wait */
    EVENT_PERF_OFF_CPU, /* of perf: the time is the end of the wait, there is no leaf */
    EVENT_THREAD_CREATE,
    EVENT_THREAD_JOIN,
    EVENT_THREAD_DETACH,
};

/* Never EVENT_UNSEEN. */
enum event_role event_role_of(const struct perfdata_attr *attr);

/* Whether samples of the event are off-CPU time as such. */
static inline bool event_role_is_off_cpu(enum event_role role)
{
    return role == EVENT_OFF_CPU || role == EVENT_PERF_OFF_CPU;
}
