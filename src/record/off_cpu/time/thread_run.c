/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/thread_run.h"

#include <string.h>

struct thread_run thread_run_begin(enum run_state state, uint64_t start_ns)
{
    return (struct thread_run){.state = state, .start_ns = start_ns, .since_ns = start_ns};
}

/* `found`: the state until now, as the record shows. */
static struct run_interval change(struct thread_run *run, enum run_state found, enum run_state next,
                                  uint64_t time_ns)
{
    struct run_interval interval = {found, run->since_ns, time_ns};
    if (time_ns < run->since_ns)
        interval.end_ns = run->since_ns; /* the clocks of two processors */
    run->sums_ns[found] += interval.end_ns - interval.start_ns;
    run->since_ns = interval.end_ns;
    run->state = next;
    return interval;
}

/* A second IN, or a second OUT: the record between them is missing. */
static enum run_state judge(const struct thread_run *run, bool was_on)
{
    switch (run->state) {
    case RUN_UNSEEN:
        return was_on ? RUN_ON : RUN_BLOCKED;
    case RUN_ON:
        return was_on ? RUN_ON : RUN_LOST;
    case RUN_BLOCKED:
    case RUN_PREEMPTED:
        return was_on ? RUN_LOST : run->state;
    default:
        return RUN_LOST;
    }
}

struct run_interval thread_run_in(struct thread_run *run, uint64_t time_ns)
{
    return change(run, judge(run, false), RUN_ON, time_ns);
}

struct run_interval thread_run_out(struct thread_run *run, bool is_preempted, uint64_t time_ns)
{
    return change(run, judge(run, true), is_preempted ? RUN_PREEMPTED : RUN_BLOCKED, time_ns);
}

void thread_run_lose(struct thread_run *run)
{
    run->state = RUN_LOST;
}

struct run_interval thread_run_resume(struct thread_run *run, uint64_t time_ns)
{
    return change(run, RUN_LOST, RUN_UNSEEN, time_ns);
}

void thread_run_explain(struct thread_run *run, enum run_state state, uint64_t part_ns)
{
    run->sums_ns[RUN_LOST] -= part_ns;
    run->sums_ns[state] += part_ns;
}

struct run_interval thread_run_end(struct thread_run *run, uint64_t time_ns)
{
    /* No record at all: the thread waited, a running thread has records of its time slices. */
    enum run_state found = run->state == RUN_UNSEEN ? RUN_BLOCKED : run->state;
    return change(run, found, run->state, time_ns);
}

void thread_run_restart(struct thread_run *run, uint64_t time_ns)
{
    memset(run->sums_ns, 0, sizeof(run->sums_ns));
    run->start_ns = run->since_ns = time_ns;
    if (run->state == RUN_LOST)
        run->state = RUN_UNSEEN;
}
