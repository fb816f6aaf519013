/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/running_threads.h"

#include "base/clock.h"
#include "record/attach/refusal.h"
#include "record/attach/snapshot/snapshot_rows.h"
#include "record/procfs/blocked/thread_files.h"
#include "record/procfs/blocked/wait_age.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

/* Events at a time: their rings count as locked memory. A crowded processor runs each of its
 * threads within this time. */
enum { SAMPLES_MAX = 16 };
#define SAMPLE_WAIT_NS 300000000
/* Longer than the turns of some threads that share a processor. */
#define STARVED_MIN_NS 30000000

struct batch {
    const struct running_thread *threads;
    pid_t pid;
    uint64_t begin_ns;
    struct running_sample samples[SAMPLES_MAX];
    struct pollfd polled[SAMPLES_MAX];
    size_t count, left;
};

static void set_problem(struct snapshot_thread *row, const char *text)
{
    snprintf(row->problem, sizeof(row->problem), "%s", text);
}

static void open_batch(struct batch *batch)
{
    batch->begin_ns = monotonic_ns();
    for (size_t i = 0; i < batch->count; i++) {
        struct snapshot_thread *row = batch->threads[i].row;
        int err = running_sample_open(&batch->samples[i], row->tid);
        batch->polled[i] = (struct pollfd){.fd = batch->samples[i].fd, .events = POLLIN};
        batch->left += err == 0;
        if (err == -EACCES || err == -EPERM || err == -ENOSYS)
            snprintf(row->problem, sizeof(row->problem), "runs, and %s",
                     refusal_of_rec(ACCESS_EVENTS, err).text);
        else if (err)
            snapshot_row_set_failure(row, err);
    }
}

/* At a sample: the time without a processor up to this turn (the scheduler adds it when the turn
 * begins). */
static void find_starved(const struct batch *batch, const struct running_thread *thread)
{
    struct run_account now;
    if (thread_account_read(batch->pid, thread->row->tid, &now) != 0)
        return;
    uint64_t delay_ns = now.delay_ns - thread->account.delay_ns;
    thread->row->is_starved = delay_ns >= STARVED_MIN_NS;
    if (thread->row->is_starved)
        thread->row->age_ns = delay_ns;
}

static void take_samples(struct batch *batch, const struct running_handler *handler)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct ring_record record;
        if (batch->samples[i].fd < 0 || batch->polled[i].fd < 0 ||
            !running_sample_take(&batch->samples[i], &record))
            continue;
        handler->take(handler->context, batch->threads[i].row, &record);
        find_starved(batch, &batch->threads[i]);
        batch->polled[i].fd = -1; /* ignored by poll() */
        batch->left--;
    }
}

/* A thread on a processor uses CPU time: the account grows with each interrupt of the scheduler's
 * clock. */
static void explain_silence(const struct batch *batch, const struct running_thread *thread)
{
    struct snapshot_thread *row = thread->row;
    struct run_account now;
    uint64_t waited_ns = monotonic_ns() - batch->begin_ns;
    bool has_run = thread_account_read(batch->pid, row->tid, &now) != 0 ||
                   now.cpu_ns != thread->account.cpu_ns;
    row->is_starved = !has_run && waited_ns >= STARVED_MIN_NS;
    if (row->is_starved)
        row->age_ns = row->age_ns == WAIT_AGE_UNKNOWN ? waited_ns : row->age_ns + waited_ns;
    set_problem(row, row->is_starved ? "the stack can be read only while the thread runs"
                                     : "runs in the kernel");
}

/* Threads that blocked in the meantime, are starved, or stay in the kernel. */
static void close_batch(struct batch *batch, const struct running_handler *handler)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct snapshot_thread *row = batch->threads[i].row;
        bool is_open = batch->samples[i].fd >= 0;
        running_sample_close(&batch->samples[i]);
        if (is_open && !row->has_stack && !row->problem[0] && !handler->look(handler->context, row))
            explain_silence(batch, &batch->threads[i]);
    }
}

static void sample_batch(struct batch *batch, const struct running_handler *handler)
{
    open_batch(batch);
    while (batch->left > 0 && monotonic_ns() < batch->begin_ns + SAMPLE_WAIT_NS) {
        poll(batch->polled, (nfds_t)batch->count, 5);
        take_samples(batch, handler);
    }
    close_batch(batch, handler);
}

void running_threads_sample(const struct running_threads *threads, pid_t pid,
                            const struct running_handler *handler)
{
    for (size_t i = 0; i < threads->count; i += SAMPLES_MAX) {
        size_t left = threads->count - i;
        struct batch batch = {.threads = threads->items + i,
                              .pid = pid,
                              .count = left < SAMPLES_MAX ? left : SAMPLES_MAX};
        sample_batch(&batch, handler);
    }
}
