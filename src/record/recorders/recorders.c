/* SPDX-License-Identifier: MIT */
/*
 * Stable names end up in captures, scripts and `rec list`: rows and parameters may be added, their
 * names never change. The bit of a row in a set of recorders is its place in the table.
 */
#include "record/recorders/recorders.h"

#include "base/text/error.h"
#include "record/launch/trust.h"
#include "record/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY_MS 86400000
#define YEAR_NS (UINT64_C(365) * DAY_MS * 1000000)

static const struct record_parameter cpu_parameters[] = {
    {.name = "freq",
     .type = RECORD_PARAMETER_INTEGER,
     .unit = "Hz",
     .value_default = RECORD_FREQUENCY_DEFAULT,
     .least = 1,
     .most = RECORD_FREQUENCY_MAX,
     .help = "samples per second of CPU time of each thread"},
    {.name = "engine",
     .type = RECORD_PARAMETER_SOURCE,
     .default_text = "the first available",
     .help = "source of the samples"},
    {.name = "delay",
     .type = RECORD_PARAMETER_INTEGER,
     .unit = "ms",
     .most = DAY_MS,
     .help = "time between the start of the command and of sampling"},
    {.name = "duration",
     .type = RECORD_PARAMETER_TIME,
     .unit = "ns",
     .least = 1,
     .most = YEAR_NS,
     .default_text = "until the command ends",
     .help = "end the recording after this time of sampling"},
    {.name = "max-size",
     .type = RECORD_PARAMETER_SIZE,
     .unit = "bytes",
     .least = UINT64_C(64) << 10,
     .most = UINT64_C(1) << 50,
     .default_text = "no limit",
     .help = "end the recording when the capture reaches this size"},
    {.name = "no-inherit",
     .type = RECORD_PARAMETER_SWITCH,
     .help = "record the command's process without children"},
    {.name = "wait-all",
     .type = RECORD_PARAMETER_SWITCH,
     .help = "record until the last process of the tree ends"},
};

static const struct recorder_event cpu_events[] = {
    {.id = RECORD_EVENT_CPU, .name = "cpu-clock", .unit = "ns"},
};

static const struct record_parameter off_cpu_parameters[] = {
    {.name = "off-cpu",
     .type = RECORD_PARAMETER_SWITCH,
     .help = "record also where threads wait, for what, and how long, with stacks"},
    {.name = "off-cpu-only",
     .type = RECORD_PARAMETER_SWITCH,
     .help = "record where threads wait, without samples of CPU time"},
    {.name = "off-cpu-interval",
     .type = RECORD_PARAMETER_TIME,
     .unit = "ns",
     .value_default = RECORD_OFF_CPU_INTERVAL_NS,
     .least = 1000000,
     .most = 1000000000,
     .default_text = "10ms",
     .help = "time between two looks at the stacks of waiting threads, 1ms to 1s"},
};

/* Address: the futex. Number: the holder of a mutex, the awaited process, the number of the note
 * off_cpu.object, or of a sum the number of its intervals. */
static const struct recorder_event off_cpu_events[] = {
    {RECORD_EVENT_OFF_CPU, "off-cpu", "ns", true},
};

/* Address: the pthread_t. Number of a creation: the new thread's tid. */
static const struct recorder_event thread_events[] = {
    {RECORD_EVENT_THREAD_CREATE, "thread-create", "count", true},
    {RECORD_EVENT_THREAD_JOIN, "thread-join", "count", true},
    {RECORD_EVENT_THREAD_DETACH, "thread-detach", "count", true},
};

const struct recorder recorders[RECORDERS] = {
    {
        .id = "cpu",
        .name = "CPU time",
        .description = "CPU time of threads, with complete user stacks",
        .events = cpu_events,
        .event_count = sizeof(cpu_events) / sizeof(cpu_events[0]),
        .is_always_on = true,
        .can_start = true,
        .can_attach = true,
        .privileges = "none",
        .sources = record_sources,
        .source_count = RECORD_SOURCES,
        .parameters = cpu_parameters,
        .parameter_count = sizeof(cpu_parameters) / sizeof(cpu_parameters[0]),
    },
    {
        .id = "thread-lifecycle",
        .name = "Lifecycle of threads",
        .description = "creation, names, exit and join of threads",
        .events = thread_events,
        .event_count = sizeof(thread_events) / sizeof(thread_events[0]),
        .can_start = true,
        .has_hooks = true,
        .privileges = "none",
        .sources = &record_hooks,
        .source_count = 1,
    },
    {
        .id = "off-cpu",
        .name = "Off-CPU time",
        .description = "where threads wait, for what, and how long",
        .events = off_cpu_events,
        .event_count = sizeof(off_cpu_events) / sizeof(off_cpu_events[0]),
        .can_start = true,
        .can_attach = true,
        .privileges = "none",
        .sources = record_off_cpu_sources,
        .source_count = RECORD_OFF_CPU_SOURCES,
        .parameters = off_cpu_parameters,
        .parameter_count = sizeof(off_cpu_parameters) / sizeof(off_cpu_parameters[0]),
    },
};

const struct recorder *recorder_find(const char *id)
{
    for (size_t i = 0; i < RECORDERS; i++)
        if (strcmp(recorders[i].id, id) == 0)
            return &recorders[i];
    return NULL;
}

const struct record_parameter *recorder_parameter(const struct recorder *recorder, const char *name)
{
    for (size_t i = 0; i < recorder->parameter_count; i++)
        if (strcmp(recorder->parameters[i].name, name) == 0)
            return &recorder->parameters[i];
    return NULL;
}

const struct record_parameter *recorders_parameter(const char *name)
{
    const struct record_parameter *found = NULL;
    for (size_t i = 0; i < RECORDERS && !found; i++)
        found = recorder_parameter(&recorders[i], name);
    return found;
}

const struct recorder_event *recorders_event(enum record_event id)
{
    for (size_t i = 0; i < RECORDERS; i++)
        for (size_t j = 0; j < recorders[i].event_count; j++)
            if (recorders[i].events[j].id == id)
                return &recorders[i].events[j];
    /* Ids without a row are refused before (take_record() of drain.c). */
    return &cpu_events[0];
}

bool recorders_event_is_of_target(enum record_event id)
{
    for (size_t i = 0; i < RECORDERS; i++)
        for (size_t j = 0; j < recorders[i].event_count; j++)
            if (recorders[i].events[j].id == id)
                return recorders[i].is_always_on || recorders[i].has_hooks;
    return false;
}

bool recorders_have_hooks(uint32_t set)
{
    bool has_hooks = false;
    for (size_t i = 0; i < RECORDERS; i++)
        has_hooks |= recorders[i].has_hooks && (set & recorder_bit(&recorders[i]));
    return has_hooks;
}

bool recorders_have_off_cpu(uint32_t set)
{
    return set & recorder_bit(recorder_find("off-cpu"));
}

static void describe(const struct recorder_event *event, uint64_t period_ns,
                     struct perfdata_event_row *row)
{
    *row = (struct perfdata_event_row){
        .name = event->name,
        .unit = event->unit,
        .period = event->id == RECORD_EVENT_CPU ? period_ns : 0,
        .has_object = event->has_object,
    };
}

void recorders_describe(uint32_t set, uint64_t period_ns,
                        struct perfdata_event_row rows[PERFDATA_EVENTS_MAX])
{
    _Static_assert(RECORD_EVENTS <= PERFDATA_EVENTS_MAX, "a row for each event");
    for (size_t i = 0; i < RECORDERS; i++)
        for (size_t j = 0; j < recorders[i].event_count; j++)
            if (recorders[i].is_always_on || (set & recorder_bit(&recorders[i])))
                describe(&recorders[i].events[j], period_ns, &rows[recorders[i].events[j].id]);
}

static int check_excluded(const struct recorder *rows, size_t count, uint32_t set, size_t row,
                          struct error *error)
{
    for (size_t i = 0; rows[row].excludes && i < count; i++)
        if ((set >> i & 1) && strcmp(rows[i].id, rows[row].excludes) == 0)
            return error_set(error, -EINVAL,
                             "%s and %s cannot record at the same time: leave one of them out",
                             rows[row].id, rows[i].id);
    return 0;
}

int recorders_check(const struct recorder *rows, size_t count, uint32_t set, bool from_outside,
                    struct error *error)
{
    int err = 0;
    for (size_t i = 0; i < count && err == 0; i++) {
        if (!(set >> i & 1))
            continue;
        if (from_outside && !rows[i].can_attach)
            return error_set(error, -EINVAL,
                             "%s has no hooks in programs recorded from outside (-p, -t, --engine "
                             "perf-ring): use rec --record %s -- COMMAND",
                             rows[i].id, rows[i].id);
        err = check_excluded(rows, count, set, i, error);
    }
    return err;
}

/* One source that works is enough; else the reasons of all, in one line. */
struct recorder_availability recorder_probe(const struct recorder *recorder,
                                            const struct record_probe *probe)
{
    struct recorder_availability found = {0};
    struct error error = {{0}};
    char sampler[4096];
    if (session_find_sampler(sampler, recorder->has_hooks, &error) != 0 ||
        trust_check(sampler, &error) != 0) {
        snprintf(found.reason, sizeof(found.reason), "%s", error.text);
        return found;
    }
    size_t used = 0;
    for (size_t i = 0; i < recorder->source_count; i++) {
        const char *refusal = recorder->sources[i].refusal(probe);
        if (!refusal)
            return (struct recorder_availability){.is_available = true};
        if (used < sizeof(found.reason))
            used += (size_t)snprintf(found.reason + used, sizeof(found.reason) - used, "%s%s: %s",
                                     i ? "; " : "", recorder->sources[i].name, refusal);
    }
    return found;
}
