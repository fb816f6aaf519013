/* SPDX-License-Identifier: MIT */
#include "convert/load/events/event_role.h"

#include <linux/perf_event.h>
#include <string.h>

static enum event_role named(const struct perfdata_attr *attr)
{
    enum { ANY_CONFIG = -1 };
    static const struct {
        const char *name;
        uint32_t type;
        int config;
        enum event_role role;
    } names[] = {
        {"sched:sched_switch", PERF_TYPE_TRACEPOINT, ANY_CONFIG, EVENT_SCHED_SWITCH},
        {"sched:sched_waking", PERF_TYPE_TRACEPOINT, ANY_CONFIG, EVENT_WAKEUP},
        {"sched:sched_wakeup", PERF_TYPE_TRACEPOINT, ANY_CONFIG, EVENT_WAKEUP},
        {"thread-create", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, EVENT_THREAD_CREATE},
        {"thread-join", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, EVENT_THREAD_JOIN},
        {"thread-detach", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, EVENT_THREAD_DETACH},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (attr->type == names[i].type && strcmp(attr->name, names[i].name) == 0 &&
            (names[i].config == ANY_CONFIG || attr->config == (uint64_t)names[i].config))
            return names[i].role;
    return EVENT_PLAIN;
}

enum event_role event_role_of(const struct perfdata_attr *attr)
{
    if (attr->name && strcmp(attr->name, OFF_CPU_PERF_EVENT) == 0)
        return EVENT_PERF_OFF_CPU;
    if (attr->name && strcmp(attr->name, EVENTS_OFF_CPU) == 0)
        return EVENT_OFF_CPU;
    if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES)
        return EVENT_CONTEXT_SWITCH;
    return attr->name ? named(attr) : EVENT_PLAIN;
}
