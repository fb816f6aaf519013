/* SPDX-License-Identifier: MIT */
#include "convert/load/off_cpu.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

void off_cpu_init(struct off_cpu *off_cpu, struct tasks *tasks, struct perfdata_reader *reader)
{
    off_cpu->tasks = tasks;
    off_cpu->reader = reader;
    off_cpu->next_pid = (struct off_cpu_field){.name = "next_pid", .attr_index = SIZE_MAX};
    off_cpu->prev_state = (struct off_cpu_field){.name = "prev_state", .attr_index = SIZE_MAX};
    off_cpu->woken_pid = (struct off_cpu_field){.name = "pid", .attr_index = SIZE_MAX};
    for (size_t i = 0; i < OFF_CPU_LEAVES; i++)
        off_cpu->leaves[i] = PROFILE_NONE;
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

struct switch_out {
    bool has_call;
    enum off_cpu_leaf leaf;
};

/* A second record of the same stop may have the stack or the reason. */
static int stop(struct off_cpu *off_cpu, const struct profile_sample *at, struct switch_out out)
{
    struct off_cpu_thread *thread = thread_at(off_cpu, at->thread);
    const struct profile_thread *of = &off_cpu->tasks->profile->threads[at->thread];
    if (!thread)
        return -ENOMEM;
    if (of->end_ns || of->tid <= 0) /* ended; the idle task; or a task after its exit */
        return 0;
    if (!thread->is_off) {
        thread->is_off = true;
        thread->has_call = false;
        thread->leaf = OFF_CPU_UNKNOWN;
        thread->since_ns = at->time_ns;
        thread->ready_ns = 0;
        thread->call = PROFILE_NONE;
        thread->cpu = at->cpu;
    }
    if (out.has_call && !thread->has_call) {
        thread->has_call = true;
        thread->call = at->call;
    }
    if (thread->leaf == OFF_CPU_UNKNOWN)
        thread->leaf = out.leaf;
    return 0;
}

/* The call with the leaf below. */
static uint32_t with_leaf(struct off_cpu *off_cpu, uint32_t call, enum off_cpu_leaf leaf)
{
    static const char *const names[OFF_CPU_LEAVES] = {
        [OFF_CPU_UNKNOWN] = WAITS_UNKNOWN,
        [OFF_CPU_RUNNABLE] = WAITS_RUNNABLE,
        [OFF_CPU_DISK] = "[waiting: disk]",
        [OFF_CPU_STOPPED] = "[waiting: stopped]",
    };
    struct profile *profile = off_cpu->tasks->profile;
    uint32_t *address = &off_cpu->leaves[leaf];
    if (*address == PROFILE_NONE) {
        uint32_t lib = profile_lib_id(profile, names[leaf], NULL, 0);
        if (lib != PROFILE_NONE)
            profile->libs[lib].category = PROFILE_SYNTHETIC;
        *address = profile_address_id(profile, lib, 0);
    }
    return profile->failed ? PROFILE_NONE : profile_call_id(profile, call, *address);
}

static int add(struct off_cpu *off_cpu, uint32_t index, enum off_cpu_leaf leaf, uint64_t start_ns,
               uint64_t end_ns)
{
    const struct off_cpu_thread *thread = &off_cpu->threads[index];
    if (end_ns <= start_ns)
        return 0;
    const struct profile_sample sample = {
        .time_ns = start_ns,
        .weight = end_ns - start_ns,
        .thread = index,
        .call = with_leaf(off_cpu, thread->has_call ? thread->call : PROFILE_NONE, leaf),
        .stack = PROFILE_NONE,
        .cpu = thread->cpu,
    };
    return off_cpu->tasks->profile->failed ? -ENOMEM : off_cpu->handle(off_cpu->context, &sample);
}

/* The weight is the time off the CPU, the stack is from the stop. Two samples end to end: waiting,
 * up to the wake-up, then runnable. Preempted threads, and threads without a recorded wake-up, have
 * a single one. */
static int start(struct off_cpu *off_cpu, uint32_t index, uint64_t time_ns)
{
    struct off_cpu_thread *thread = index < off_cpu->count ? &off_cpu->threads[index] : NULL;
    if (!thread || !thread->is_off)
        return 0;
    uint64_t ready_ns = thread->leaf == OFF_CPU_RUNNABLE ? thread->since_ns
                        : thread->ready_ns               ? thread->ready_ns
                                                         : time_ns;
    int err = add(off_cpu, index, thread->leaf, thread->since_ns, ready_ns);
    if (err == 0)
        err = add(off_cpu, index, OFF_CPU_RUNNABLE, ready_ns, time_ns);
    thread->is_off = false;
    return err;
}

/* False: the event was recorded without the field. */
static bool read_field(struct off_cpu *off_cpu, struct off_cpu_field *field,
                       const struct perfdata_event *event, uint64_t *value)
{
    if (field->attr_index != event->attr_index)
        field->is_found =
            perfdata_field(off_cpu->reader, event->attr_index, field->name, &field->place);
    field->attr_index = event->attr_index;
    if (field->is_found)
        *value = perfdata_field_value(off_cpu->reader, event, field->place);
    return field->is_found;
}

/* Bits of prev_state: include/linux/sched.h, TASK_*; above TASK_REPORT (0x7f): flags of a runnable
 * task. */
static enum off_cpu_leaf leaf_of(struct off_cpu *off_cpu, const struct perfdata_event *event)
{
    enum { UNINTERRUPTIBLE = 2, STOPPED = 4, TRACED = 8, REPORTED = 0x7f };
    uint64_t state;
    if (!event->raw || !read_field(off_cpu, &off_cpu->prev_state, event, &state))
        return OFF_CPU_UNKNOWN;
    if ((state & REPORTED) == 0)
        return OFF_CPU_RUNNABLE;
    return state & UNINTERRUPTIBLE      ? OFF_CPU_DISK
           : state & (STOPPED | TRACED) ? OFF_CPU_STOPPED
                                        : OFF_CPU_UNKNOWN;
}

static void wake(struct off_cpu *off_cpu, const struct perfdata_event *event)
{
    uint64_t tid;
    if (!event->raw || !read_field(off_cpu, &off_cpu->woken_pid, event, &tid))
        return;
    uint32_t index = tasks_find_thread(off_cpu->tasks, (uint32_t)tid);
    struct off_cpu_thread *thread = index < off_cpu->count ? &off_cpu->threads[index] : NULL;
    if (thread && thread->is_off && thread->ready_ns == 0)
        thread->ready_ns = event->time_ns;
}

/* The sample belongs to the stopping thread; the next thread starts at the same time. */
static int sched_switch(struct off_cpu *off_cpu, const struct perfdata_event *event,
                        const struct profile_sample *sample)
{
    int err = start(off_cpu, sample->thread, event->time_ns); /* the start was not recorded */
    if (err == 0)
        err = stop(off_cpu, sample, (struct switch_out){true, leaf_of(off_cpu, event)});
    uint64_t tid;
    if (err != 0 || !read_field(off_cpu, &off_cpu->next_pid, event, &tid))
        return err;
    uint32_t next =
        tid == event->tid ? PROFILE_NONE : tasks_find_thread(off_cpu->tasks, (uint32_t)tid);
    return next == PROFILE_NONE ? 0 : start(off_cpu, next, event->time_ns);
}

/* perf record --off-cpu writes a sample at the end of the wait, with its length as the weight. */
int off_cpu_convert(struct off_cpu *off_cpu, struct profile_sample *sample)
{
    sample->time_ns -= sample->weight < sample->time_ns ? sample->weight : sample->time_ns;
    sample->call = with_leaf(off_cpu, sample->call, OFF_CPU_UNKNOWN);
    return off_cpu->tasks->profile->failed ? -ENOMEM : 0;
}

int off_cpu_note_wait(struct off_cpu *off_cpu, const struct profile_sample *sample)
{
    struct off_cpu_thread *thread = thread_at(off_cpu, sample->thread);
    uint64_t end_ns = sample->time_ns + sample->weight;
    if (!thread)
        return -ENOMEM;
    bool goes_on = thread->noted_end_ns == sample->time_ns && thread->noted_call == sample->call;
    if (goes_on && end_ns > off_cpu->end_ns)
        off_cpu->end_ns = end_ns;
    thread->noted_end_ns = end_ns;
    thread->noted_call = sample->call;
    return 0;
}

/* Switches and wake-ups count even if the filter drops their samples. */
bool off_cpu_needs(const struct off_cpu *off_cpu, enum event_role role)
{
    return role == EVENT_SCHED_SWITCH || role == EVENT_WAKEUP ||
           (off_cpu->has_records && role == EVENT_CONTEXT_SWITCH);
}

int off_cpu_sample(struct off_cpu *off_cpu, const struct perfdata_event *event,
                   enum event_role role, const struct profile_sample *sample)
{
    if (role == EVENT_SCHED_SWITCH)
        return sched_switch(off_cpu, event, sample);
    if (role == EVENT_CONTEXT_SWITCH)
        return off_cpu->has_records ? stop(off_cpu, sample, (struct switch_out){.has_call = true})
                                    : 0;
    if (role == EVENT_WAKEUP)
        wake(off_cpu, event);
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
    const struct switch_out out = {.leaf =
                                       event->is_preempted ? OFF_CPU_RUNNABLE : OFF_CPU_UNKNOWN};
    return event->is_switch_out ? stop(off_cpu, &at, out)
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
