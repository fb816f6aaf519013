/* SPDX-License-Identifier: MIT */
/*
 * The way of a kernel sample. Only threads with a slot count, as their user time has signals:
 *
 *     kernel ring ─▶ take_sample() ─┬▶ no thread with a sampler        dropped
 *                                   ├▶ delivery of the sampler's own
 *                                   │  signal, or its rt_sigreturn()   dropped: not program time
 *                                   ├▶ no user stack                   kernel frames alone
 *                                   └▶ RECORD_COPY of the user stack   pending_stacks
 *
 * skipped_ns of the thread grows by each weight: the thread's last record has all CPU time since
 * its last signal, this time included.
 */
#include "record/kernel_time/kernel_samples.h"

#include "record/kernel_time/kernel_copy.h"
#include "record/procfs/kernel/kernel_image.h"
#include "record/procfs/processors.h"
#include "record/tables/thread_table.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The most: the size of a record is a u16. */
#define STACK_BYTES ((64 << 10) - 8)
#define RECORD_BYTES (64 << 10)
/* Of all rings together, and of one: a quarter of a second of samples at 999 Hz. */
#define RINGS_BYTES (UINT64_C(64) << 20)
#define RING_BYTES_MAX (UINT64_C(16) << 20)
#define RING_BYTES_MIN (UINT64_C(1) << 20)
/* A round must come before this part of a ring is full. */
#define RING_PARTS 4
/* Records of tasks and mappings come with event 0 only (thread_events.c). */
#define KERNEL_EVENT 1
/* The period of a timer of its own is shorter than the sampler's by this part. With equal periods
 * every expiry met the delivery of the sampler's signal: all samples of a program without system
 * calls were in the kernel. 1/17 has no short common multiple with the rates in use. */
#define PERIOD_PARTS 17

static size_t ring_bytes(size_t rings)
{
    uint64_t bytes = RING_BYTES_MAX;
    while (bytes > RING_BYTES_MIN && bytes * rings > RINGS_BYTES)
        bytes /= 2;
    return (size_t)bytes;
}

static int open_rings(struct kernel_samples *kernel)
{
    uint32_t list[PROCESSORS_MAX];
    size_t count = processors_list(NULL, list, PROCESSORS_MAX);
    kernel->rings = calloc(count + 1, sizeof(*kernel->rings));
    int err = !kernel->rings ? -ENOMEM : count == 0 ? -ENOENT : 0;
    for (size_t i = 0; err == 0 && i < count; i++) {
        struct kernel_ring *ring = &kernel->rings[i];
        size_t bytes = ring_bytes(count);
        err = kernel_ring_open(ring, list[i], bytes, bytes / RING_PARTS);
        ring->event = KERNEL_EVENT;
        kernel->ring_count += err == 0;
    }
    return err;
}

static void read_delivery(struct kernel_samples *kernel)
{
    FILE *symbols = fopen("/proc/kallsyms", "re");
    if (!symbols)
        return;
    signal_delivery_read(&kernel->delivery, symbols);
    fclose(symbols);
}

/* By a timer of its own. */
static struct thread_events clock_events(const struct kernel_samples *kernel,
                                         enum event_reach reach)
{
    const uint64_t period_ns = kernel->samples->period_ns;
    return (struct thread_events){.rings = kernel->rings,
                                  .ring_count = kernel->ring_count,
                                  .period_ns = period_ns - period_ns / PERIOD_PARTS,
                                  .stack_bytes = STACK_BYTES,
                                  .reach = reach,
                                  .exclude_user = true,
                                  .kernel_stacks = true};
}

static int open_events(struct kernel_samples *kernel, pid_t command, enum event_reach reach)
{
    kernel->events = clock_events(kernel, reach);
    if (timer_expiry_find(&kernel->expiry, &kernel->delivery)) {
        kernel->events.requests = kernel->expiry.requests;
        kernel->events.filter = kernel->expiry.filter;
        kernel->events.period_ns = kernel->samples->period_ns;
        if (thread_events_open(&kernel->events, kernel->set, command, EVENTS_AT_EXEC) == 0)
            return 0;
        kernel->events = clock_events(kernel, reach);
    }
    return thread_events_open(&kernel->events, kernel->set, command, EVENTS_AT_EXEC);
}

int kernel_samples_open(struct kernel_samples *kernel, pid_t command, enum event_reach reach)
{
    int err = open_rings(kernel);
    kernel->set = event_set_new();
    if (err == 0 && !kernel->set)
        err = -ENOMEM;
    if (err)
        return err;
    read_delivery(kernel);
    kernel_image_write(kernel->samples->file, kernel->round->now_ns);
    return open_events(kernel, command, reach);
}

void kernel_samples_close(struct kernel_samples *kernel)
{
    event_set_release(kernel->set);
    stack_pages_close(&kernel->pages);
    for (size_t i = 0; i < kernel->ring_count; i++)
        kernel_ring_close(&kernel->rings[i]);
    free(kernel->rings);
    buffer_free(&kernel->record);
    *kernel = (struct kernel_samples){.rings = NULL};
}

/* The thread of a sample, if its user time is sampled by signals. CPU time before the start of the
 * program is in its account already. */
static struct thread *find_thread(const struct kernel_samples *kernel,
                                  const struct ring_record *record)
{
    const struct process *process = process_find(kernel->processes, (pid_t)record->pid);
    bool is_sampled = process && process->engine == ENGINE_PERF_TRAP &&
                      record->time_ns >= process->start_ns && !kernel->round->is_quiet;
    return is_sampled ? thread_of_tid(process, (pid_t)record->tid) : NULL;
}

/* At the end of a process, the user stack is gone. */
static void write_without_user_stack(struct kernel_samples *kernel, struct thread *thread,
                                     const struct ring_record *record, uint64_t weight_ns)
{
    const struct walked_sample sample = {.process = thread->process,
                                         .map = thread->process->map,
                                         .tid = thread->tid,
                                         .time_ns = record->time_ns,
                                         .event = RECORD_EVENT_CPU,
                                         .weight = weight_ns,
                                         .kernel_frames = record->kernel_frames,
                                         .kernel_count = (uint32_t)record->kernel_count,
                                         .flags = RECORD_KERNEL,
                                         .is_complete = true};
    sample_write(kernel->samples, &sample);
}

static void write_sample(struct kernel_samples *kernel, struct thread *thread,
                         const struct ring_record *record)
{
    struct process *process = thread->process;
    uint64_t weight_ns = cpu_account_weigh(&process->account, record->period);
    uint32_t unload_count = load_acquire(&process_slot(process)->unload_count);
    kernel->samples->summary->produced++;
    thread->skipped_ns += weight_ns;
    if (!kernel_copy_build(&kernel->record, record, weight_ns, unload_count, &kernel->pages)) {
        write_without_user_stack(kernel, thread, record, weight_ns);
        return;
    }
    const struct raw_sample raw = {.process = process,
                                   .tid = thread->tid,
                                   .time_ns = record->time_ns,
                                   .record = kernel->record.bytes,
                                   .bytes = kernel->record.size,
                                   .kernel_frames = record->kernel_frames,
                                   .kernel_count = (uint32_t)record->kernel_count};
    pending_take(kernel->pending, &raw);
}

/* From the tracepoint of expiring timers to the code that the timer interrupted. */
static void take_interrupt_off(const struct kernel_samples *kernel, struct ring_record *record)
{
    size_t own =
        signal_delivery_interrupt(&kernel->delivery, record->kernel_frames, record->kernel_count);
    record->kernel_frames += own;
    record->kernel_count -= own;
    record->period = kernel->events.period_ns;
}

static void take_sample(struct kernel_samples *kernel, struct ring_record *record)
{
    if (kernel->events.filter)
        take_interrupt_off(kernel, record);
    struct thread *thread = find_thread(kernel, record);
    bool is_own =
        signal_delivery_has(&kernel->delivery, record->kernel_frames, record->kernel_count) ||
        signal_delivery_is_return(record->stack, record->stack_bytes);
    if (!thread || record->kernel_count == 0 || is_own)
        return;
    if (record->time_ns < thread->process->mapped_ns)
        record->time_ns = thread->process->mapped_ns;
    write_sample(kernel, thread, record);
}

static void take(struct kernel_samples *kernel, const uint8_t *bytes, size_t size)
{
    struct ring_record record;
    if (!ring_record_decode(&record, bytes, size))
        return;
    if (record.type == PERF_RECORD_SAMPLE)
        take_sample(kernel, &record);
    else if (record.type == PERF_RECORD_LOST && !kernel->round->is_quiet)
        kernel->samples->summary->lost[RECORD_LOST_RING_FULL] += record.lost;
}

void kernel_samples_take(struct kernel_samples *kernel)
{
    for (size_t i = 0; i < kernel->ring_count; i++) {
        struct kernel_ring *ring = &kernel->rings[i];
        const uint8_t *bytes;
        size_t size;
        kernel_ring_look(ring);
        while ((bytes = kernel_ring_next(ring, &size))) {
            take(kernel, bytes, size);
            kernel_ring_advance(ring, size);
        }
    }
}

/* A processor can fill its ring at the rate of the event. */
uint64_t kernel_samples_wait_ns(const struct kernel_samples *kernel, uint64_t wait_ns)
{
    for (size_t i = 0; i < kernel->ring_count; i++) {
        uint64_t records = kernel->rings[i].data_bytes / RECORD_BYTES;
        uint64_t fill_ns = records * kernel->events.period_ns / RING_PARTS;
        wait_ns = fill_ns < wait_ns ? fill_ns : wait_ns;
    }
    return wait_ns;
}
