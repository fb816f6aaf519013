/* SPDX-License-Identifier: MIT */
/*
 * Threads that the sampler does not know of: the kernel's for io_uring, which no signal reaches, the C library's
 * own (of aio_read(), for one), which block every signal, and those of a bare clone(). The kernel tells how much
 * of their time was its own: that becomes [kernel] of a thread with its own name, the rest [lost].
 *
 *     look ──────── look ─────────────────── look ──────────── look
 *     │ seen first  │ told, since its start  │ what it grew    │ is no more: EXIT
 *
 * A thread that is new may announce itself yet: it gets some time for that. What is used between the last look and
 * the end of the process stays with the process: so there is a look whenever rec looks at the process at all, unless
 * these threads are many.
 */
#include "record/collector_parts.h"

#include "record/proc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define TIME_TO_ANNOUNCE_NS 25000000
/* For each of them, between two looks; one takes 10 to 20 us. */
#define REST_NS 500000

static bool is_announced(const struct collector *collector, const struct image *image, pid_t tid)
{
    if (tid == image->pid)
        return true;
    for (size_t i = 0; i < collector->active_count; i++) {
        const struct thread_view *thread = &collector->threads[collector->active[i]];
        if (thread->image == image && thread->tid == tid)
            return true;
    }
    return false;
}

static struct unannounced *find(struct collector *collector, const struct image *image, pid_t tid)
{
    for (size_t i = 0; i < collector->unannounced_count; i++) {
        struct unannounced *thread = &collector->unannounced[i];
        if (thread->image == image && thread->tid == tid)
            return thread;
    }
    return NULL;
}

static void introduce(struct collector *collector, const struct image *image, pid_t tid)
{
    struct perfdata_task task = image_task(image, tid, image->pid, collector->round_ns);
    char name[16] = {0};
    perfdata_write_fork(collector->writer, &task);
    if (proc_name(image->pid, tid, name) == 0)
        perfdata_write_comm(collector->writer, &task, name, false);
    collector->summary->threads++;
}

/* What was used before the recording began is not of it. */
static void see_first(struct collector *collector, const struct image *image, pid_t tid)
{
    struct proc_stat stat;
    if (collector->unannounced_count == UNANNOUNCED_MAX ||
        proc_stat_read(&stat, image->pid, tid) != 0)
        return;
    bool was_before = collector->options->delay_ns != 0;
    collector->unannounced[collector->unannounced_count++] = (struct unannounced){
        .image = image,
        .tid = tid,
        .told_kernel_ns = was_before ? stat.kernel_ns : 0,
        .told_user_ns = was_before ? stat.user_ns : 0,
        .first_ns = collector->round_ns,
        .look_ns = collector->round_ns,
    };
}

/* One that shares the thread-local memory of another, and blocks nothing, is sampled as that one. */
static bool is_sampled(const struct image *image, pid_t tid)
{
    return image->engine == ENGINE_PERF_TRAP && !proc_thread_blocks(image->pid, tid, SIGTRAP);
}

/* Never more than the process has left: the clocks of both are not looked at in one moment. */
static uint64_t tell(struct collector *collector, struct image *image, struct unannounced *thread,
                     enum synthetic kind, uint64_t new_ns)
{
    uint64_t left_ns = blind_gap_ns(image);
    uint64_t told_ns = new_ns < left_ns ? new_ns : left_ns;
    if (told_ns > 0 && !thread->is_introduced)
        introduce(collector, image, thread->tid);
    thread->is_introduced |= told_ns > 0;
    stack_write_synthetic(collector, image, thread->tid, kind, told_ns, collector->round_ns);
    return told_ns;
}

static void look_at(struct collector *collector, struct image *image, struct unannounced *thread)
{
    struct proc_stat stat;
    thread->look_ns = collector->round_ns;
    if (thread->look_ns - thread->first_ns < TIME_TO_ANNOUNCE_NS ||
        proc_stat_read(&stat, image->pid, thread->tid) != 0)
        return;
    if (stat.kernel_ns > thread->told_kernel_ns) {
        uint64_t kernel_ns = tell(collector, image, thread, SYNTHETIC_KERNEL,
                                  stat.kernel_ns - thread->told_kernel_ns);
        thread->told_kernel_ns += kernel_ns;
        collector->summary->cpu_unsampled_kernel_ns += kernel_ns;
    }
    if (stat.user_ns <= thread->told_user_ns || is_sampled(image, thread->tid))
        return;
    uint64_t lost_ns =
        tell(collector, image, thread, SYNTHETIC_LOST, stat.user_ns - thread->told_user_ns);
    thread->told_user_ns += lost_ns;
    collector->summary->blind_ns[RECORD_BLIND_UNKNOWN_THREAD] += lost_ns;
}

/* Those that the latest look did not see. */
static void end_those_before(struct collector *collector, const struct image *image,
                             uint64_t look_ns)
{
    uint64_t end_ns = image_end_ns(collector, image);
    for (size_t i = collector->unannounced_count; i-- > 0;) {
        struct unannounced *thread = &collector->unannounced[i];
        if (thread->image != image || thread->look_ns >= look_ns)
            continue;
        struct perfdata_task task = image_task(image, thread->tid, image->pid, end_ns);
        if (thread->is_introduced)
            perfdata_write_exit(collector->writer, &task);
        *thread = collector->unannounced[--collector->unannounced_count];
    }
}

void unannounced_look(struct collector *collector, struct image *image)
{
    if (image->pid != image->stated_pid) /* its threads call themselves otherwise */
        return;
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)image->pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count; i++) {
        if (is_announced(collector, image, tids[i]))
            continue;
        struct unannounced *thread = find(collector, image, tids[i]);
        if (thread)
            look_at(collector, image, thread);
        else
            see_first(collector, image, tids[i]);
    }
    free(tids);
    end_those_before(collector, image, collector->round_ns);
    image->unannounced_due_ns =
        collector->round_ns + REST_NS * (uint64_t)collector->unannounced_count;
}

bool unannounced_are_due(const struct collector *collector, const struct image *image)
{
    if (collector->round_ns < image->unannounced_due_ns)
        return false;
    for (size_t i = 0; i < collector->unannounced_count; i++)
        if (collector->unannounced[i].image == image)
            return true;
    return false;
}

void unannounced_end(struct collector *collector, const struct image *image)
{
    end_those_before(collector, image, UINT64_MAX);
}
