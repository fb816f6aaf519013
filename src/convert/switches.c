/* SPDX-License-Identifier: MIT */
#include "convert/switches.h"

#include "base/containers/array.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

void switches_init(struct switches *switches, struct tasks *tasks, struct perfdata_reader *reader)
{
    switches->tasks = tasks;
    switches->reader = reader;
    switches->field_attr_index = SIZE_MAX;
    for (size_t i = 0; i < perfdata_attr_count(reader); i++)
        switches->has_records |= perfdata_attr(reader, i)->has_switches;
}

void switches_free(struct switches *switches)
{
    free(switches->threads);
    *switches = (struct switches){0};
}

/* NULL: out of memory. */
static struct off_cpu *thread_at(struct switches *switches, uint32_t thread)
{
    while (switches->count <= thread)
        if (!ARRAY_PUSH(switches->threads, switches->count, switches->capacity))
            return NULL;
    return &switches->threads[thread];
}

/* A second word of the same stop may bring its stack. */
static int stop(struct switches *switches, const struct profile_sample *at, bool has_call)
{
    struct off_cpu *thread = thread_at(switches, at->thread);
    const struct profile_thread *of = &switches->tasks->profile->threads[at->thread];
    if (!thread)
        return -ENOMEM;
    if (of->end_ns || of->tid <= 0) /* gone; the idle task; or a task after its exit */
        return 0;
    if (!thread->is_off)
        *thread = (struct off_cpu){
            .is_off = true, .since_ns = at->time_ns, .call = PROFILE_NONE, .cpu = at->cpu};
    if (has_call && !thread->has_call) {
        thread->has_call = true;
        thread->call = at->call;
    }
    return 0;
}

static int start(struct switches *switches, uint32_t index, uint64_t time_ns)
{
    struct off_cpu *thread = index < switches->count ? &switches->threads[index] : NULL;
    if (!thread || !thread->is_off)
        return 0;
    thread->is_off = false;
    const struct profile_sample sample = {
        .time_ns = thread->since_ns,
        .weight = time_ns > thread->since_ns ? time_ns - thread->since_ns : 0,
        .thread = index,
        .call = thread->has_call ? thread->call : PROFILE_NONE,
        .stack = PROFILE_NONE,
        .cpu = thread->cpu,
    };
    thread->has_call = false;
    return sample.weight ? switches->handle(switches->context, &sample) : 0;
}

static bool is_sched_switch(const struct perfdata_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT && attr->name &&
           strcmp(attr->name, "sched:sched_switch") == 0;
}

/* The formats of all tracepoints are text, which is searched once. */
static bool find_next_pid(struct switches *switches, size_t attr_index)
{
    if (switches->field_attr_index != attr_index)
        switches->has_next_pid =
            perfdata_field(switches->reader, attr_index, "next_pid", &switches->next_pid);
    switches->field_attr_index = attr_index;
    return switches->has_next_pid;
}

/* The sample is of the thread that stops; the next one starts at that instant. */
static int sched_switch(struct switches *switches, const struct perfdata_event *event,
                        const struct profile_sample *sample)
{
    int err = start(switches, sample->thread, event->time_ns); /* the start was not recorded */
    if (err == 0)
        err = stop(switches, sample, true);
    if (err != 0 || !find_next_pid(switches, event->attr_index))
        return err;
    uint32_t tid = (uint32_t)perfdata_field_value(switches->reader, event, switches->next_pid);
    uint32_t next = tid == event->tid ? PROFILE_NONE : tasks_find_thread(switches->tasks, tid);
    return next == PROFILE_NONE ? 0 : start(switches, next, event->time_ns);
}

static bool is_context_switch(const struct perfdata_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

bool switches_needs(const struct switches *switches, const struct perfdata_attr *attr)
{
    return is_sched_switch(attr) || (switches->has_records && is_context_switch(attr));
}

int switches_sample(struct switches *switches, const struct perfdata_event *event,
                    const struct profile_sample *sample)
{
    const struct perfdata_attr *attr = perfdata_attr(switches->reader, event->attr_index);
    if (is_sched_switch(attr))
        return sched_switch(switches, event, sample);
    if (is_context_switch(attr))
        return switches->has_records ? stop(switches, sample, true) : 0;
    return start(switches, sample->thread, sample->time_ns);
}

int switches_record(struct switches *switches, const struct perfdata_event *event)
{
    struct profile_sample at = {.time_ns = event->time_ns, .call = PROFILE_NONE};
    at.cpu = event->cpu < PROFILE_NO_CPU ? (uint16_t)event->cpu : PROFILE_NO_CPU;
    /* Only of who is known: on a whole machine everybody else's switches are recorded, too. */
    at.thread = tasks_find_thread(switches->tasks, event->tid);
    if (at.thread == PROFILE_NONE)
        return 0;
    return event->is_switch_out ? stop(switches, &at, false)
                                : start(switches, at.thread, event->time_ns);
}

int switches_finish(struct switches *switches, uint64_t end_ns)
{
    int err = 0;
    for (size_t i = 0; i < switches->count && err == 0; i++) {
        uint64_t ended_ns = switches->tasks->profile->threads[i].end_ns;
        err = start(switches, (uint32_t)i, ended_ns ? ended_ns : end_ns);
    }
    return err;
}
