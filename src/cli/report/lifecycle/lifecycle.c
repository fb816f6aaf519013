/* SPDX-License-Identifier: MIT */
#include "cli/report/lifecycle/lifecycle.h"

#include <errno.h>
#include <stdlib.h>

const char *lifecycle_fate_name(enum lifecycle_fate fate)
{
    static const char *const names[LIFECYCLE_FATES] = {
        [LIFECYCLE_NEVER_JOINED] = "never-joined",
        [LIFECYCLE_ALIVE] = "alive",
        [LIFECYCLE_JOINED] = "joined",
        [LIFECYCLE_DETACHED] = "detached",
    };
    return names[fate];
}

static int compare(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static void add_exec(struct lifecycle *lifecycle, const struct profile_life_event *event)
{
    lifecycle->execs[lifecycle->exec_count++] =
        (struct lifecycle_exec){lifecycle->profile->threads[event->thread].process, event->time_ns};
}

/* A thread may be listed by several creations of a damaged file: the first one counts. */
static void take_event(struct lifecycle *lifecycle, struct lifecycle_thread *threads,
                       const struct profile_life_event *event)
{
    struct lifecycle_thread *thread =
        event->thread == PROFILE_NONE ? NULL : &threads[event->thread];
    bool is_known = thread && thread->created;
    switch (event->kind) {
    case PROFILE_THREAD_CREATED:
        if (thread && !is_known)
            thread->created = event;
        break;
    case PROFILE_THREAD_JOINED:
    case PROFILE_THREAD_DETACHED:
        lifecycle->unmatched += !is_known;
        if (is_known && event->kind == PROFILE_THREAD_JOINED)
            thread->joined = event;
        else if (is_known)
            thread->detached = event;
        break;
    case PROFILE_PROCESS_EXECUTED:
        add_exec(lifecycle, event);
        break;
    case PROFILE_THREAD_NAMED:
    case PROFILE_LIVES:
        break;
    }
}

static int by_process_and_time(const void *a, const void *b)
{
    const struct lifecycle_exec *left = a, *right = b;
    int order = compare(left->process, right->process);
    return order ? order : compare(left->time_ns, right->time_ns);
}

/* The process executed a program between the thread's creation and end: the exec ended it. */
static bool ended_by_exec(const struct lifecycle *lifecycle, const struct lifecycle_thread *thread)
{
    const struct profile_thread *of = &lifecycle->profile->threads[thread->thread];
    const struct lifecycle_exec created = {of->process, thread->created->time_ns};
    size_t first = 0, end = lifecycle->exec_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (by_process_and_time(&lifecycle->execs[middle], &created) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first < lifecycle->exec_count && lifecycle->execs[first].process == of->process &&
           lifecycle->execs[first].time_ns <= of->end_ns;
}

static enum lifecycle_fate fate_of(const struct lifecycle *lifecycle,
                                   const struct lifecycle_thread *thread)
{
    const struct profile *profile = lifecycle->profile;
    const struct profile_thread *of = &profile->threads[thread->thread];
    uint64_t process_end_ns = profile->processes[of->process].end_ns;
    if (thread->joined)
        return LIFECYCLE_JOINED;
    if (of->end_ns == 0 || (process_end_ns && of->end_ns >= process_end_ns) ||
        ended_by_exec(lifecycle, thread))
        return LIFECYCLE_ALIVE;
    return thread->detached || thread->created->is_detached ? LIFECYCLE_DETACHED
                                                            : LIFECYCLE_NEVER_JOINED;
}

static void note_cpu(const struct profile *profile, struct lifecycle_thread *thread)
{
    thread->last_cpu_ns = thread->created->time_ns;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        const struct profile_list *list = profile_list_of(profile, thread->thread, i);
        if (!list || !profile_is_cpu_time(event))
            continue;
        thread->cpu_ns += list->samples.weight;
        if (list->samples.last_ns > thread->last_cpu_ns)
            thread->last_cpu_ns = list->samples.last_ns;
    }
}

static uint32_t stack_of(const struct profile *profile, const struct lifecycle_thread *thread)
{
    uint32_t call = thread->created->call;
    return call == PROFILE_NONE ? PROFILE_NONE : profile->calls[call].stack;
}

static int by_fate_and_stack(const void *a, const void *b, void *profile)
{
    const struct lifecycle_thread *left = a, *right = b;
    int order = compare(left->fate, right->fate);
    if (order == 0)
        order = compare(stack_of(profile, left), stack_of(profile, right));
    if (order == 0)
        order = compare(left->created->time_ns, right->created->time_ns);
    return order ? order : compare(left->thread, right->thread);
}

/* Keeps the threads with a creation. */
static void judge(struct lifecycle *lifecycle)
{
    const struct profile *profile = lifecycle->profile;
    qsort(lifecycle->execs, lifecycle->exec_count, sizeof(*lifecycle->execs), by_process_and_time);
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct lifecycle_thread thread = lifecycle->threads[i];
        if (!thread.created)
            continue;
        thread.thread = (uint32_t)i;
        thread.fate = fate_of(lifecycle, &thread);
        note_cpu(profile, &thread);
        lifecycle->fates[thread.fate]++;
        lifecycle->threads[lifecycle->count++] = thread;
    }
    qsort_r(lifecycle->threads, lifecycle->count, sizeof(*lifecycle->threads), by_fate_and_stack,
            (void *)profile);
}

/* From the last name to the first. */
static void chain_names(struct lifecycle *lifecycle)
{
    const struct profile *profile = lifecycle->profile;
    for (size_t i = 0; i < profile->thread_count; i++)
        lifecycle->first_name[i] = PROFILE_NONE;
    for (size_t i = profile->life_event_count; i-- > 0;) {
        const struct profile_life_event *event = &profile->life_events[i];
        lifecycle->next_name[i] = PROFILE_NONE;
        if (event->kind != PROFILE_THREAD_NAMED)
            continue;
        lifecycle->next_name[i] = lifecycle->first_name[event->thread];
        lifecycle->first_name[event->thread] = (uint32_t)i;
    }
}

int lifecycle_build(struct lifecycle *lifecycle, const struct profile *profile)
{
    *lifecycle = (struct lifecycle){.profile = profile};
    lifecycle->threads = calloc(profile->thread_count + 1, sizeof(*lifecycle->threads));
    lifecycle->first_name = calloc(profile->thread_count + 1, sizeof(*lifecycle->first_name));
    lifecycle->next_name = calloc(profile->life_event_count + 1, sizeof(*lifecycle->next_name));
    lifecycle->execs = calloc(profile->life_event_count + 1, sizeof(*lifecycle->execs));
    if (!lifecycle->threads || !lifecycle->first_name || !lifecycle->next_name ||
        !lifecycle->execs) {
        lifecycle_free(lifecycle);
        return -ENOMEM;
    }
    chain_names(lifecycle);
    for (size_t i = 0; i < profile->life_event_count; i++)
        take_event(lifecycle, lifecycle->threads, &profile->life_events[i]);
    judge(lifecycle);
    return 0;
}

void lifecycle_free(struct lifecycle *lifecycle)
{
    free(lifecycle->threads);
    free(lifecycle->first_name);
    free(lifecycle->next_name);
    free(lifecycle->execs);
    *lifecycle = (struct lifecycle){0};
}

size_t lifecycle_functions(const struct profile *profile, uint32_t call, const char **names,
                           size_t room)
{
    size_t count = 0;
    uint32_t stack = call == PROFILE_NONE ? PROFILE_NONE : profile->calls[call].stack;
    for (; stack != PROFILE_NONE && count < room; stack = profile->stacks[stack].parent) {
        const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
        names[count++] = profile_text(profile, profile->funcs[frame->func].name);
    }
    return count;
}
