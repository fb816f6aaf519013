/* SPDX-License-Identifier: MIT */
/*
 * Processes whose CPU time grows and whose samples do not. Whatever is the cause, the time must not look
 * like that of an ending program: it becomes [lost], and the cause is told.
 *
 *     CPU time ────────────────────╮ gap: normal up to some periods, a tick and a kernel interval of each thread
 *     samples, also those on their way ─────╯
 */
#include "record/collector_parts.h"

#include "record/proc.h"

#include <poll.h>
#include <signal.h>

/* What may be on its way: for the process, and for each of its threads, beside the periods. */
#define SLACK_NS 100000000
#define SLACK_OF_THREAD_NS 25000000
/* What a thread uses after its last word, in the C library and in the kernel: 17 us, more with a large stack. */
#define SLACK_OF_END_NS 100000
#define THREADS_LOOKED_AT 64
/* Twice in a row: rec itself may have had to wait between draining and looking. */
#define LOOK_INTERVAL_NS 200000000
#define SIGHTINGS_NEEDED 2

uint64_t blind_gap_ns(const struct image *image)
{
    uint64_t settled_ns = image->start_cpu_ns + image->seen_ns + image->waiting_ns;
    return image->last_cpu_ns > settled_ns ? image->last_cpu_ns - settled_ns : 0;
}

static size_t count_threads(const struct collector *collector, const struct image *image)
{
    size_t count = 0;
    for (size_t i = 0; i < collector->active_count; i++)
        count += collector->threads[collector->active[i]].image == image;
    return count;
}

/* One that is not over yet, and of the kernel's share what the sampler holds back: twice a reserve of two (handler.c). */
static uint64_t periods_of_thread_ns(const struct collector *collector, const struct image *image)
{
    return collector->period_ns * (image->engine == ENGINE_PERF_TRAP ? 1 + 2 * 2 : 1);
}

uint64_t blind_periods_ns(const struct collector *collector, const struct image *image)
{
    return periods_of_thread_ns(collector, image) * count_threads(collector, image);
}

/* Of the process' threads, as far as it has not too many. */
static struct proc_threads look_at_threads(const struct image *image)
{
    int number = image->engine == ENGINE_TIMER ? SIGPROF : SIGTRAP;
    return proc_look_at_threads(image->pid, number, THREADS_LOOKED_AT);
}

/* Then it has no timers any more. */
static bool has_ended(const struct image *image)
{
    struct pollfd end = {.fd = image->pid_fd, .events = POLLIN};
    return poll(&end, 1, 0) == 1;
}

static enum record_blind cause_of(const struct collector *collector, const struct image *image)
{
    struct proc_threads threads = look_at_threads(image);
    if (threads.blocking > 0)
        return RECORD_BLIND_BLOCKED;
    if (threads.count > count_threads(collector, image))
        return RECORD_BLIND_UNKNOWN_THREAD;
    if (image->engine == ENGINE_TIMER && !has_ended(image) &&
        proc_count_timers(image->pid) < threads.count)
        return RECORD_BLIND_NO_TIMER;
    return RECORD_BLIND_OTHER;
}

static bool has_gap(const struct collector *collector, const struct image *image)
{
    uint64_t slack_ns = SLACK_NS + SLACK_OF_THREAD_NS * count_threads(collector, image) +
                        SLACK_OF_END_NS * image->ended_threads + blind_periods_ns(collector, image);
    return blind_gap_ns(image) > slack_ns;
}

void blind_check(struct collector *collector, struct image *image)
{
    if (image->engine == ENGINE_NONE || collector->is_quiet)
        return;
    bool is_due = collector->round_ns >= image->blind_due_ns;
    if (is_due)
        image->blind_due_ns = collector->round_ns + LOOK_INTERVAL_NS;
    bool is_suspect = is_due && has_gap(collector, image);
    if (is_suspect || unannounced_are_due(collector, image))
        unannounced_look(collector, image);
    if (image->is_blind || !is_due)
        return;
    is_suspect = is_suspect && has_gap(collector, image); /* what those threads used is known now */
    image->blind_sightings = is_suspect ? image->blind_sightings + 1 : 0;
    if (image->blind_sightings < SIGHTINGS_NEEDED)
        return;
    image->is_blind = true;
    image->blind_cause = cause_of(collector, image);
}

/* Of a process that was blind at some time, all that no sample stands for. */
bool blind_settle(struct collector *collector, struct image *image, uint64_t rest_ns,
                  uint64_t time_ns)
{
    if (!image->is_blind)
        return false;
    stack_write_synthetic(collector, image, image->pid, SYNTHETIC_LOST, rest_ns, time_ns);
    collector->summary->blind_ns[image->blind_cause] += rest_ns;
    return true;
}
