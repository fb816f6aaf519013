/* SPDX-License-Identifier: MIT */
#include "convert/load/off_cpu.h"

#include "base/containers/array.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

void off_cpu_init(struct off_cpu *off_cpu, struct tasks *tasks, struct perfdata_reader *reader)
{
    off_cpu->tasks = tasks;
    off_cpu->reader = reader;
    off_cpu->field_attr_index = SIZE_MAX;
    for (size_t i = 0; i < perfdata_attr_count(reader); i++)
        off_cpu->has_records |= perfdata_attr(reader, i)->has_switches;
}

void off_cpu_free(struct off_cpu *off_cpu)
{
    free(off_cpu->threads);
    *off_cpu = (struct off_cpu){0};
}

/* NULL: out of memory. */
static struct off_cpu_thread *thread_at(struct off_cpu *off_cpu, uint32_t thread)
{
    while (off_cpu->count <= thread)
        if (!ARRAY_PUSH(off_cpu->threads, off_cpu->count, off_cpu->capacity))
            return NULL;
    return &off_cpu->threads[thread];
}

/* A second record of the same stop may have the stack. */
static int stop(struct off_cpu *off_cpu, const struct profile_sample *at, bool has_call)
{
    struct off_cpu_thread *thread = thread_at(off_cpu, at->thread);
    const struct profile_thread *of = &off_cpu->tasks->profile->threads[at->thread];
    if (!thread)
        return -ENOMEM;
    if (of->end_ns || of->tid <= 0) /* ended; the idle task; or a task after its exit */
        return 0;
    if (!thread->is_off)
        *thread = (struct off_cpu_thread){
            .is_off = true, .since_ns = at->time_ns, .call = PROFILE_NONE, .cpu = at->cpu};
    if (has_call && !thread->has_call) {
        thread->has_call = true;
        thread->call = at->call;
    }
    return 0;
}

/* The weight is the time off the CPU, the stack is from the stop. */
static int start(struct off_cpu *off_cpu, uint32_t index, uint64_t time_ns)
{
    struct off_cpu_thread *thread = index < off_cpu->count ? &off_cpu->threads[index] : NULL;
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
    return sample.weight ? off_cpu->handle(off_cpu->context, &sample) : 0;
}

static bool is_sched_switch(const struct perfdata_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT && attr->name &&
           strcmp(attr->name, "sched:sched_switch") == 0;
}

/* All formats of tracepoints are a text, searched once. */
static bool find_next_pid(struct off_cpu *off_cpu, size_t attr_index)
{
    if (off_cpu->field_attr_index != attr_index)
        off_cpu->has_next_pid =
            perfdata_field(off_cpu->reader, attr_index, "next_pid", &off_cpu->next_pid);
    off_cpu->field_attr_index = attr_index;
    return off_cpu->has_next_pid;
}

/* The sample belongs to the stopping thread; the next thread starts at the same time. */
static int sched_switch(struct off_cpu *off_cpu, const struct perfdata_event *event,
                        const struct profile_sample *sample)
{
    int err = start(off_cpu, sample->thread, event->time_ns); /* the start was not recorded */
    if (err == 0)
        err = stop(off_cpu, sample, true);
    if (err != 0 || !find_next_pid(off_cpu, event->attr_index))
        return err;
    uint32_t tid = (uint32_t)perfdata_field_value(off_cpu->reader, event, off_cpu->next_pid);
    uint32_t next = tid == event->tid ? PROFILE_NONE : tasks_find_thread(off_cpu->tasks, tid);
    return next == PROFILE_NONE ? 0 : start(off_cpu, next, event->time_ns);
}

static bool is_context_switch(const struct perfdata_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

bool off_cpu_needs(const struct off_cpu *off_cpu, const struct perfdata_attr *attr)
{
    return is_sched_switch(attr) || (off_cpu->has_records && is_context_switch(attr));
}

int off_cpu_sample(struct off_cpu *off_cpu, const struct perfdata_event *event,
                   const struct profile_sample *sample)
{
    const struct perfdata_attr *attr = perfdata_attr(off_cpu->reader, event->attr_index);
    if (is_sched_switch(attr))
        return sched_switch(off_cpu, event, sample);
    if (is_context_switch(attr))
        return off_cpu->has_records ? stop(off_cpu, sample, true) : 0;
    return start(off_cpu, sample->thread, sample->time_ns);
}

int off_cpu_record(struct off_cpu *off_cpu, const struct perfdata_event *event)
{
    struct profile_sample at = {.time_ns = event->time_ns, .call = PROFILE_NONE};
    at.cpu = event->cpu < PROFILE_NO_CPU ? (uint16_t)event->cpu : PROFILE_NO_CPU;
    /* Only for recorded threads: with perf record -a, switches of all other threads are
     * recorded, too. */
    at.thread = tasks_find_thread(off_cpu->tasks, event->tid);
    if (at.thread == PROFILE_NONE)
        return 0;
    return event->is_switch_out ? stop(off_cpu, &at, false)
                                : start(off_cpu, at.thread, event->time_ns);
}

/* Threads without a switch-in wait until their end, or until the end of the recording. */
int off_cpu_finish(struct off_cpu *off_cpu, uint64_t end_ns)
{
    int err = 0;
    for (size_t i = 0; i < off_cpu->count && err == 0; i++) {
        uint64_t ended_ns = off_cpu->tasks->profile->threads[i].end_ns;
        err = start(off_cpu, (uint32_t)i, ended_ns ? ended_ns : end_ns);
    }
    return err;
}
