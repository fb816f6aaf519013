/* SPDX-License-Identifier: MIT */
/*
 * Two threads use a recorder:
 *
 *     off-CPU thread     loop; the queue, with its mutex
 *     writer's thread    writer; the queue; wake_fd, and the atomic members of the loop
 *
 * A second off-CPU thread takes the loop over while the first one hangs in the kernel. A thread is
 * given up only in the probe before looks (memory_probe.h), and never returns to the loop from
 * there: at any time one thread uses the loop.
 */
#include "record/off_cpu/off_recorder.h"

#include "base/clock.h"
#include "record/off_cpu/off_attach.h"
#include "record/off_cpu/off_join.h"
#include "record/off_cpu/off_loop.h"
#include "record/off_cpu/off_summary.h"
#include "record/procfs/kernel/kernel_image.h"
#include "record/procfs/processors.h"
#include "wire/atomic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A look that has not returned after this time, and uses no CPU time, hangs in the kernel. */
#define STUCK_NS UINT64_C(2000000000)

struct off_recorder {
    struct off_loop loop; /* of the off-CPU thread, once that runs */
    struct off_queue queue;
    struct off_writer writer; /* of the writer's thread */
    pthread_t thread;
    bool has_thread;
};

uint64_t off_recorder_age_ns(const struct off_recorder *recorder)
{
    return 2 * off_loop_window_ns(&recorder->loop) + OFF_RECORDER_WRITE_NS;
}

/* Refused by the user's rights, a seccomp filter, or a kernel without perf events. */
static bool is_refusal(int err)
{
    return err == -EACCES || err == -EPERM || err == -ENOSYS || err == -ENOENT;
}

/* A wait may end on any processor. */
static int list_processors(struct off_records *records, const char *processors)
{
    uint32_t *list = processors ? calloc(PROCESSORS_MAX, sizeof(*list)) : NULL;
    bool *is_listed = processors ? calloc(PROCESSORS_MAX, sizeof(*is_listed)) : NULL;
    size_t count = list && is_listed ? processors_list(processors, list, PROCESSORS_MAX) : 0;
    for (size_t i = 0; i < count; i++)
        if (list[i] < PROCESSORS_MAX)
            is_listed[list[i]] = true;
    records->is_listed = is_listed;
    int err = processors && (!list || !is_listed) ? -ENOMEM : 0;
    free(list);
    return err;
}

static int open_rings(struct off_loop *loop, const struct off_recorder_config *config)
{
    int err = list_processors(&loop->records, config->processors);
    if (err == 0)
        err = off_rings_open(&loop->rings, config->reach);
    loop->is_polled = is_refusal(err);
    return loop->is_polled ? 0 : err;
}

int off_recorder_open(struct off_recorder **out, const struct off_recorder_config *config)
{
    struct off_recorder *recorder = calloc(1, sizeof(*recorder));
    *out = NULL;
    if (!recorder)
        return -ENOMEM;
    off_queue_open(&recorder->queue);
    off_loop_connect(&recorder->loop, &recorder->queue, config->interval_ns);
    recorder->loop.waits.is_quiet = config->is_quiet;
    recorder->loop.records.reach = recorder->loop.poll.reach = config->reach;
    off_ends_open(&recorder->loop.ends);
    off_notes_open(&recorder->loop.waits.notes, config->accounts_fd);
    recorder->loop.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool has_kernel_stacks = config->with_kernel_stacks && kernel_stacks_are_permitted();
    if (has_kernel_stacks && !config->has_kernel_image)
        kernel_image_write(config->file, 0);
    int err = recorder->loop.wake_fd < 0 ? -errno : 0;
    if (err == 0)
        err = open_rings(&recorder->loop, config);
    if (err == 0)
        err = off_looks_open(&recorder->loop.looks, config->open_files, has_kernel_stacks);
    if (err) {
        off_recorder_free(recorder);
        return err;
    }
    off_writer_open(&recorder->writer, config->file);
    recorder->writer.meet = config->meet;
    recorder->writer.meet_context = config->meet_context;
    *out = recorder;
    return 0;
}

int off_recorder_await_exec(struct off_recorder *recorder, pid_t pid)
{
    if (recorder->loop.is_polled)
        return 0;
    int err = off_rings_await_exec(&recorder->loop.rings, pid);
    recorder->loop.is_polled = is_refusal(err);
    return recorder->loop.is_polled ? 0 : err;
}

void off_recorder_set_root(struct off_recorder *recorder, pid_t pid)
{
    store_release(&recorder->loop.root_pid, (uint32_t)pid);
}

int off_recorder_attach(struct off_recorder *recorder, pid_t pid, const pid_t *tids,
                        size_t tid_count)
{
    if (recorder->loop.is_polled)
        return -EACCES;
    return off_attach(&recorder->loop.rings, &recorder->loop.records, pid, tids, tid_count);
}

int off_recorder_record_system(struct off_recorder *recorder, const char *cgroup, int cgroup_fd)
{
    int err = recorder->loop.is_polled ? -EACCES
                                       : off_rings_record_system(&recorder->loop.rings, cgroup_fd);
    if (err == 0)
        off_attach_system(&recorder->loop.records, cgroup);
    return err;
}

static void *run_loop(void *argument)
{
    off_loop_run(argument);
    return NULL;
}

int off_recorder_start(struct off_recorder *recorder)
{
    int err = -pthread_create(&recorder->thread, NULL, run_loop, &recorder->loop);
    recorder->has_thread = err == 0;
    return err;
}

static void wake(const struct off_recorder *recorder)
{
    const uint64_t one = 1;
    while (write(recorder->loop.wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

void off_recorder_begin(struct off_recorder *recorder, uint64_t now_ns)
{
    store_release(&recorder->loop.begin_ns, now_ns);
    wake(recorder);
}

/* False: the thread does not hang in a look. A hanging thread cannot be joined: after the read it
 * pauses until rec ends. */
static bool replace_hanging(struct off_recorder *recorder)
{
    struct off_loop *loop = &recorder->loop;
    clockid_t clock;
    if (!recorder->has_thread || !off_looks_give_up(&loop->looks, monotonic_ns()))
        return false;
    if (pthread_getcpuclockid(recorder->thread, &clock) == 0)
        loop->cpu_ns += clock_ns(clock);
    pthread_detach(recorder->thread);
    return off_recorder_start(recorder) == 0;
}

void off_recorder_write(struct off_recorder *recorder, uint64_t now_ns)
{
    replace_hanging(recorder);
    off_writer_round(&recorder->writer, &recorder->queue, now_ns, false);
}

uint64_t off_recorder_end_ns(const struct off_recorder *recorder, pid_t pid, uint64_t since_ns)
{
    return off_writer_end_ns(&recorder->writer, pid, since_ns);
}

/* False: the thread hangs in the kernel, at the memory of a process. */
static bool join(struct off_recorder *recorder)
{
    struct off_loop *loop = &recorder->loop;
    bool has_ended;
    store_release(&loop->stop, 1);
    wake(recorder);
    do
        has_ended = off_join(recorder->thread, (pid_t)load_acquire(&loop->tid), STUCK_NS);
    while (!has_ended && replace_hanging(recorder));
    return has_ended;
}

void off_recorder_stop(struct off_recorder *recorder, struct record_summary *total)
{
    struct record_off_cpu *summary = &total->off_cpu;
    *summary = (struct record_off_cpu){
        .method = recorder->loop.is_polled ? "schedstat" : "switch-records",
        .interval_ns = recorder->loop.pace.asked_ns,
        .without_kernel_threads = recorder->loop.records.reach == REACH_SYSTEM,
        .is_stuck = recorder->has_thread && !join(recorder)};
    off_writer_round(&recorder->writer, &recorder->queue, monotonic_ns(), true);
    summary->samples = recorder->writer.samples;
    summary->mappings_left_out = recorder->writer.mappings_left_out;
    total->threads += recorder->writer.threads;
    if (summary->is_stuck)
        return;
    recorder->has_thread = false;
    off_summary_take(&recorder->loop, summary);
}

void off_recorder_free(struct off_recorder *recorder)
{
    /* A hanging thread uses the memory when it returns: it stays until the end of rec. */
    if (!recorder || recorder->has_thread)
        return;
    off_writer_close(&recorder->writer);
    off_tasks_free(&recorder->loop.tasks);
    off_looks_close(&recorder->loop.looks);
    off_objects_free(&recorder->loop.waits.samples.objects);
    off_rings_close(&recorder->loop.rings);
    free((void *)recorder->loop.records.is_listed);
    off_queue_close(&recorder->queue);
    off_ends_close(&recorder->loop.ends);
    off_notes_close(&recorder->loop.waits.notes);
    if (recorder->loop.wake_fd >= 0)
        close(recorder->loop.wake_fd);
    free(recorder);
}
