/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_source.h"

#include "base/clock.h"
#include "record/events/event_list.h"
#include "record/procfs/kernel_image.h"
#include "record/procfs/processors.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES (16 << 10)
#define SAMPLE_BYTES 256 /* of a sample besides the stack */
/* Occurrences of other events than clocks may come as fast as the program can make them. */
#define BURST_NS 4000000
/* Of all rings together, and of one: a second of samples at 999 Hz. With other events than clocks,
 * larger by this factor: 60 ms of page faults. The kernel clears the memory, 0.2 ms a MiB. */
#define RINGS_BYTES (UINT64_C(64) << 20)
#define RING_BYTES_MAX (UINT64_C(16) << 20)
enum { BURST_FACTOR = 4 };
#define RING_BYTES_MIN (UINT64_C(256) << 10)
/* The kernel wakes the reader when this part of a ring is new. */
enum { WAKEUP_PARTS = 4 };
/* Bursts must not fill the rings while the stacks of earlier records are walked. */
enum { RECORDS_UNTIL_LOOK = 32 };
/* Of a round: one process can fill the backlog, and other processes wait for the round. */
#define DRAIN_NS 20000000

static bool has_bursts(const struct record_options *options)
{
    bool is_clock = options->event_count <= 1 && event_list_has_clock(options);
    return !is_clock && !options->off_cpu_only;
}

static size_t ring_bytes(size_t rings, bool has_bursts)
{
    const uint64_t factor = has_bursts ? BURST_FACTOR : 1;
    uint64_t bytes = RING_BYTES_MAX * factor;
    while (bytes > RING_BYTES_MIN && bytes * rings > RINGS_BYTES * factor)
        bytes /= 2;
    return (size_t)bytes;
}

static void close_rings(struct ring_source *source)
{
    for (size_t i = 0; i < source->ring_count; i++)
        kernel_ring_close(&source->rings[i]);
    source->ring_count = 0;
}

/* For each event one on each of `count` processors. */
static int open_rings_of(struct ring_source *source, const uint32_t *processors, size_t count,
                         size_t rings, size_t bytes)
{
    int err = 0;
    for (size_t i = 0; err == 0 && i < rings; i++) {
        struct kernel_ring *ring = &source->rings[i];
        err = kernel_ring_open(ring, processors[i % count], bytes, bytes / WAKEUP_PARTS);
        ring->event = (uint32_t)(i / count);
        source->ring_count += err == 0;
    }
    return err;
}

size_t ring_source_ring_bytes(const struct ring_source *source)
{
    size_t smallest_bytes = SIZE_MAX;
    for (size_t i = 0; i < source->ring_count; i++)
        if (source->rings[i].data_bytes < smallest_bytes)
            smallest_bytes = source->rings[i].data_bytes;
    return smallest_bytes;
}

/* Where locked memory is short, the first rings would take all of it: again with less for each. */
static int open_rings(struct ring_source *source, const struct ring_source_config *config)
{
    uint32_t list[PROCESSORS_MAX];
    size_t count = processors_list(config->processors, list, PROCESSORS_MAX);
    size_t events = config->options->event_count ? config->options->event_count : 1;
    size_t rings = count * events, bytes = ring_bytes(rings, has_bursts(config->options));
    source->rings = calloc(rings ? rings : 1, sizeof(*source->rings));
    if (!source->rings)
        return -ENOMEM;
    int err = count == 0 ? -ENOENT : open_rings_of(source, list, count, rings, bytes);
    while (err == 0 && ring_source_ring_bytes(source) < bytes && bytes > RING_BYTES_MIN) {
        close_rings(source);
        bytes /= 2;
        err = open_rings_of(source, list, count, rings, bytes);
    }
    return err;
}

static void connect(struct ring_source *source, const struct ring_source_config *config)
{
    const struct record_options *options = config->options;
    bool exclude_kernel = options->exclude_kernel || !thread_events_may_sample_kernel();
    source->round = config->round;
    source->opened_ns = config->round->now_ns;
    source->can_grow = !has_bursts(options);
    source->options = options;
    source->events =
        (struct thread_events){.rings = source->rings,
                               .ring_count = source->ring_count,
                               .requests = options->event_count ? options->events : NULL,
                               .period_ns = config->period_ns,
                               .stack_bytes = STACK_BYTES,
                               .reach = config->reach,
                               .exclude_kernel = exclude_kernel,
                               .exclude_user = options->kernel_only,
                               .kernel_stacks = options->kernel_stacks};
    source->stack_bytes_max = STACK_BYTES;
    source->samples = (struct sample_writer){.file = config->file,
                                             .list = &source->written_frames,
                                             .summary = config->summary,
                                             .round = config->round,
                                             .main_row = event_list_main_row(options),
                                             .period_ns = config->period_ns};
    source->maps = (struct ring_maps){.modules = &source->modules,
                                      .file = config->file,
                                      .summary = config->summary,
                                      .round = config->round};
    source->tasks = (struct ring_tasks){.maps = &source->maps,
                                        .samples = &source->samples,
                                        .round = config->round,
                                        .end_fd = -1,
                                        .exclude_kernel = exclude_kernel,
                                        .kernel_only = options->kernel_only,
                                        .has_system = config->reach == REACH_SYSTEM};
    source->unwinder.modules = &source->modules;
    source->unwinder.summary = config->summary;
}

int ring_source_open(struct ring_source *source, const struct ring_source_config *config)
{
    *source = (struct ring_source){.tasks.end_fd = -1, .cgroup_fd = -1};
    int err = open_rings(source, config);
    if (err)
        return err;
    connect(source, config);
    if (config->options->kernel_stacks && !config->has_kernel_image)
        kernel_image_write(config->file, config->round->now_ns);
    err = ring_modules_open(&source->modules, config->open_files);
    return err ? err : ring_tasks_open(&source->tasks);
}

void ring_source_close(struct ring_source *source)
{
    ring_tasks_close(&source->tasks);
    event_set_release(source->system);
    close_rings(source);
    free(source->rings);
    ring_backlog_free(&source->backlog);
    ring_unwinder_free(&source->unwinder);
    ring_modules_close(&source->modules);
    if (source->cgroup_fd >= 0)
        close(source->cgroup_fd);
    *source = (struct ring_source){.tasks.end_fd = -1, .cgroup_fd = -1};
}

/* A process with a lost FORK, or of the system from before the recording. */
static struct ring_process *process_of(struct ring_source *source, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&source->tasks.processes, (pid_t)record->pid);
    if (!process)
        process = ring_tasks_attach(&source->tasks, (pid_t)record->pid, false);
    if (process)
        ring_tasks_start_before(&source->tasks, process, record->time_ns);
    bool is_new_thread =
        source->system && !ring_tasks_has_thread(&source->tasks, (pid_t)record->tid);
    if (process && is_new_thread)
        ring_tasks_add_thread(&source->tasks, process, (pid_t)record->tid);
    return process;
}

void ring_source_meet(void *context, pid_t pid, pid_t tid, uint64_t time_ns)
{
    const struct ring_record record = {
        .pid = (uint32_t)pid, .tid = (uint32_t)tid, .time_ns = time_ns};
    (void)process_of(context, &record);
}

static bool walk(struct ring_source *source, struct ring_process *process,
                 const struct ring_record *record, struct walked_sample *sample)
{
    if (!process->has_map)
        ring_maps_read(&source->maps, process, process->process.start_ns);
    if (!ring_unwind(&source->unwinder, process, record, sample))
        return false;
    bool leads_out = !sample->is_complete && sample->cut == RECORD_CUT_UNMAPPED;
    if (leads_out && ring_maps_read(&source->maps, process, record->time_ns))
        return ring_unwind(&source->unwinder, process, record, sample);
    return true;
}

/* False: the sample has no frame at all. */
static bool find_user_frames(struct ring_source *source, struct ring_process *process,
                             const struct ring_record *record, struct walked_sample *sample)
{
    bool has_frames = walk(source, process, record, sample);
    /* A task without memory has no user stack: a kernel thread, or the end of a process. */
    if (!has_frames)
        sample->is_complete = record->abi == PERF_SAMPLE_REGS_ABI_NONE;
    if (source->options->kernel_callers) {
        sample->frame_count = has_frames && !record->kernel_count;
        sample->dropped = 0;
        sample->is_complete = sample->is_leaf = true;
    }
    return sample->frame_count + sample->kernel_count > 0;
}

/* Without any frame: a mark in place of the stack. */
static void write_mark(struct ring_source *source, struct walked_sample *sample)
{
    uint64_t mark =
        synthetic_avma(sample->flags & RECORD_KERNEL ? SYNTHETIC_KERNEL : SYNTHETIC_TRUNCATED);
    if (sample->event == RECORD_EVENT_CPU) {
        sample_write_synthetic(&source->samples, sample->process, sample->tid,
                               sample->flags & RECORD_KERNEL ? SYNTHETIC_KERNEL
                                                             : SYNTHETIC_TRUNCATED,
                               sample->weight, sample->time_ns);
        return;
    }
    sample->frames = &mark;
    sample->frame_count = 1;
    sample->flags = 0;
    sample->is_complete = sample->is_leaf = true;
    sample_write(&source->samples, sample);
}

/* NULL: unknown, FORK was lost. */
static struct event_set *set_of(const struct ring_source *source,
                                const struct ring_process *process)
{
    return source->system ? source->system : process->events;
}

static void count_cut(struct ring_source *source, struct event_set *set,
                      const struct ring_record *record, const struct walked_sample *sample)
{
    bool is_cut = !sample->is_complete && sample->cut == RECORD_CUT_STACK_COPY;
    if (!set)
        return;
    set->samples++;
    set->cuts += is_cut && record->is_stack_full;
    source->has_new_cuts |= is_cut && source->can_grow && !set->keeps_size;
}

static void take_sample(struct ring_source *source, const struct ring_record *record)
{
    struct ring_process *process = process_of(source, record);
    if (!process)
        return;
    bool is_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    struct walked_sample sample = {.process = &process->process,
                                   .tid = (pid_t)record->tid,
                                   .time_ns = record->time_ns,
                                   .event = event_list_row(source->options, record->event),
                                   .weight = record->period,
                                   .kernel_frames = record->kernel_frames,
                                   .kernel_count = (uint32_t)record->kernel_count,
                                   .flags = is_kernel ? RECORD_KERNEL : 0};
    source->samples.summary->produced++;
    if (find_user_frames(source, process, record, &sample)) {
        sample.map = process->process.map;
        count_cut(source, set_of(source, process), record, &sample);
        sample_write(&source->samples, &sample);
    } else {
        write_mark(source, &sample);
    }
}

/* Whether the record is of the events that count at its time. */
static bool is_current(const struct ring_source *source, const struct ring_record *record)
{
    bool is_fork = record->type == PERF_RECORD_FORK;
    const struct ring_process *process = ring_process_find(
        &source->tasks.processes, (pid_t)(is_fork ? record->parent_pid : record->pid));
    const struct event_set *set = process ? set_of(source, process) : source->system;
    return !set || event_set_has(set, record->id, record->time_ns);
}

static void take(struct ring_source *source, const struct ring_record *record)
{
    struct ring_process *process;
    if (record->type != PERF_RECORD_LOST && !is_current(source, record)) {
        if (record->type == PERF_RECORD_FORK) /* the new thread has the larger copies */
            tid_set_put(&source->grown_tids, (pid_t)record->tid, true);
        return;
    }
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        take_sample(source, record);
        break;
    case PERF_RECORD_MMAP2:
        process = ring_process_find(&source->tasks.processes, (pid_t)record->pid);
        if (process)
            ring_maps_add(&source->maps, process, record);
        break;
    case PERF_RECORD_LOST:
        if (source->round->is_quiet)
            break;
        source->samples.summary->lost[RECORD_LOST_RING_FULL] += record->lost;
        break;
    default:
        ring_tasks_take(&source->tasks, record);
        break;
    }
}

uint64_t ring_source_fill_ns(const struct ring_source *source)
{
    if (source->backlog.count > 0)
        return 0;
    uint64_t samples = ring_source_ring_bytes(source) / (source->stack_bytes_max + SAMPLE_BYTES);
    uint64_t fill_ns = samples * source->events.period_ns;
    return !has_bursts(source->options) || fill_ns < BURST_NS ? fill_ns : BURST_NS;
}

/* Frees the place of the records in the rings. */
static void collect(struct ring_source *source, uint64_t until_ns)
{
    struct ring_record record;
    struct kernel_ring *ring;
    size_t bytes;
    for (size_t i = 0; i < source->ring_count; i++)
        kernel_ring_look(&source->rings[i]);
    while (
        (ring = ring_record_oldest(source->rings, source->ring_count, until_ns, &record, &bytes))) {
        if (!ring_backlog_add(&source->backlog, &record))
            return;
        kernel_ring_advance(ring, bytes);
    }
}

/* delay_ns: of the newest records to be collected meanwhile. */
static void take_collected(struct ring_source *source, uint64_t delay_ns, uint64_t limit_ns)
{
    const uint64_t begin_ns = monotonic_ns();
    struct ring_record record;
    for (size_t left = source->backlog.count; left > 0; left--) {
        if (left % RECORDS_UNTIL_LOOK == 0) {
            uint64_t now_ns = monotonic_ns();
            collect(source, now_ns - delay_ns);
            if (now_ns - begin_ns > limit_ns)
                return;
        }
        if (ring_backlog_next(&source->backlog, &record))
            take(source, &record);
    }
}

void ring_source_drain(struct ring_source *source, uint64_t until_ns)
{
    const uint64_t delay_ns = monotonic_ns() - until_ns;
    collect(source, until_ns);
    take_collected(source, delay_ns, DRAIN_NS);
}

void ring_source_catch_up(struct ring_source *source)
{
    collect(source, UINT64_MAX);
    take_collected(source, 0, UINT64_MAX);
}

bool ring_source_has(struct ring_source *source, pid_t pid)
{
    if (ring_process_find(&source->tasks.processes, pid))
        return true;
    collect(source, UINT64_MAX);
    return ring_backlog_has_start(&source->backlog, pid);
}

void ring_source_restart(struct ring_source *source)
{
    ring_tasks_restart(&source->tasks);
    event_set_restart(source->system);
}

/* A LOST record comes with the next record of its ring: none after the last burst. */
static void count_lost(struct ring_source *source)
{
    uint64_t *lost = &source->samples.summary->lost[RECORD_LOST_RING_FULL];
    if (*lost < source->tasks.lost)
        *lost = source->tasks.lost;
}

void ring_source_stop(struct ring_source *source)
{
    event_set_close(source->system);
    struct ring_process *process = NULL;
    while ((process = ring_process_next(&source->tasks.processes, process)))
        event_set_close(process->events);
    do
        ring_source_catch_up(source);
    while (source->backlog.count > 0);
    count_lost(source);
    ring_tasks_finish(&source->tasks);
}
