/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_growth.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "record/perf_ring/ring_attach.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Evidence that more than one of CUTS_PARTS stacks is larger than the copy. */
enum { CUTS_MIN = 10, CUTS_PARTS = 100 };
/* Evidence of a program that has gone deep: each of the latest stacks, or all stacks so far. */
enum { LATEST_CUTS_MIN = 3 };
/* Between rounds, after the start of a process and after a cut copy. */
#define SOON_NS 2000000
#define START_NS 200000000
/* A ring must hold this many large samples. */
enum { SAMPLES_IN_RING = 32 };

static uint32_t larger_bytes(const struct ring_source *source)
{
    size_t bytes = ring_set_ring_bytes(&source->rings) / SAMPLES_IN_RING;
    return bytes < RING_STACK_BYTES_MAX ? (uint32_t)bytes : RING_STACK_BYTES_MAX;
}

static bool has_many_cuts(const struct event_set *set)
{
    if (!set || set->count == 0 || set->keeps_size)
        return false;
    bool are_part = set->cuts >= CUTS_MIN && set->cuts > set->samples / CUTS_PARTS;
    bool are_all = set->cuts > 0 && set->cuts == set->samples;
    return are_part || are_all || set->latest_cuts >= LATEST_CUTS_MIN;
}

static bool is_due(const struct event_set *set)
{
    return has_many_cuts(set) || (set && set->count > 0 && event_set_needs_chains(set));
}

static struct event_set *find_due_set(const struct ring_source *source)
{
    const struct ring_process *process = NULL;
    if (source->system)
        return is_due(source->system) ? source->system : NULL;
    while ((process = ring_process_next(&source->tasks.processes, process)))
        if (is_due(process->events))
            return process->events;
    return NULL;
}

/* A growth under way. */
struct growth {
    struct ring_source *source;
    struct event_set *set, *larger;
    struct thread_events events;
    size_t opened; /* threads, in this pass */
};

/* A thread that has ended, or that the kernel refuses since an exec with more rights. */
static bool is_left_out(int err)
{
    return err == -ESRCH || err == -EACCES || err == -EPERM;
}

static int open_thread(struct growth *growth, const struct ring_process *process, pid_t tid)
{
    int err = ring_process_open_thread(process, &growth->events, growth->larger, tid);
    if (err == 0 && growth->larger->count == growth->larger->group)
        event_set_await(growth->set, growth->larger);
    if (err && !is_left_out(err))
        return err;
    tid_set_put(&growth->source->grown_tids, tid, true);
    growth->opened++;
    if (growth->opened % RING_ATTACH_UNTIL_DRAIN == 0)
        ring_source_catch_up(growth->source);
    return 0;
}

static bool is_recorded(const struct growth *growth, const struct ring_process *process, pid_t tid)
{
    bool is_one = process && process->events == growth->set && process->tid_count == 0;
    for (size_t i = 0; process && process->events == growth->set && i < process->tid_count; i++)
        is_one |= process->tids[i] == tid;
    return is_one;
}

static int open_process(struct growth *growth, pid_t pid)
{
    char path[64];
    size_t count = 0;
    int err = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count && err == 0; i++) {
        /* The process may end while events are opened. */
        const struct ring_process *process =
            ring_process_find(&growth->source->tasks.processes, pid);
        if (!tid_set_has(&growth->source->grown_tids, tids[i]) &&
            is_recorded(growth, process, tids[i]))
            err = open_thread(growth, process, tids[i]);
    }
    free(tids);
    return err;
}

/* The processes with the set, to be freed. */
static pid_t *list_processes(const struct growth *growth, size_t *count)
{
    pid_t *pids = NULL;
    size_t capacity = 0;
    const struct ring_process *process = NULL;
    while ((process = ring_process_next(&growth->source->tasks.processes, process))) {
        pid_t *place = process->events == growth->set ? ARRAY_PUSH(pids, *count, capacity) : NULL;
        if (place)
            *place = process->process.pid;
    }
    return pids;
}

/* Passes over the threads until no thread is new. */
static int open_on_threads(struct growth *growth)
{
    int err = tid_set_open(&growth->source->grown_tids) ? 0 : -ENOMEM;
    for (int pass = 0; err == 0 && pass < RING_ATTACH_PASSES_MAX; pass++) {
        size_t count = 0;
        pid_t *pids = list_processes(growth, &count);
        growth->opened = 0;
        for (size_t i = 0; i < count && err == 0; i++)
            err = open_process(growth, pids[i]);
        free(pids);
        if (growth->opened == 0)
            break;
        ring_attach_await_forks(growth->source);
    }
    tid_set_close(&growth->source->grown_tids);
    return err;
}

static int open_on_system(struct growth *growth)
{
    int err = system_events_open(&growth->events, growth->larger, growth->source->cgroup_fd);
    if (err == 0)
        event_set_await(growth->set, growth->larger);
    return err;
}

static void grow(struct ring_source *source, struct event_set *set)
{
    struct growth growth = {
        .source = source, .set = set, .larger = event_set_new(), .events = source->events};
    const bool has_cuts = has_many_cuts(set), needs_chains = event_set_needs_chains(set);
    set->keeps_size |= has_cuts;
    set->keeps_chains = true;
    if (growth.larger)
        growth.larger->most = set->most;
    growth.events.stack_bytes = has_cuts ? larger_bytes(source) : set->stack_bytes;
    growth.events.user_chains = true;
    bool is_larger = growth.events.stack_bytes >= 2 * set->stack_bytes;
    if (!growth.larger || !(is_larger || needs_chains)) {
        event_set_release(growth.larger);
        return;
    }
    set->users++; /* its last process may end meanwhile */
    int err = set == source->system ? open_on_system(&growth) : open_on_threads(&growth);
    if (err == 0 && growth.larger->count > 0) {
        event_set_replace(set, growth.larger, monotonic_ns());
        if (source->stack_bytes_max < growth.events.stack_bytes)
            source->stack_bytes_max = growth.events.stack_bytes;
    }
    event_set_release(growth.larger);
    event_set_release(set);
}

uint64_t ring_growth_wait_ns(const struct ring_source *source, uint64_t wait_ns)
{
    bool is_start = source->round->now_ns < source->started_ns + START_NS;
    return (is_start || source->has_new_cuts) && wait_ns > SOON_NS ? SOON_NS : wait_ns;
}

void ring_growth_round(struct ring_source *source)
{
    struct event_set *set;
    source->has_new_cuts = false;
    while (source->can_grow && (set = find_due_set(source)))
        grow(source, set);
}
