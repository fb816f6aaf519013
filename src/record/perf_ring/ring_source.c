/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_source.h"

#include "base/clock.h"
#include "record/perf_ring/ring_ends.h"
#include "record/perf_ring/ring_task_records.h"
#include "record/procfs/proc.h"
#include "record/events/event_list.h"
#include "record/procfs/kernel/kernel_image.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES_MIN (4 << 10)
/* Of a burst, in a ring at least: a ring keeps the whole size of a copy, and most stacks have less
 * than 4 KiB. */
enum { BURST_SAMPLES = 256 };
#define SAMPLE_BYTES 256 /* of a sample besides the stack */
/* Occurrences of other events than clocks may come as fast as the program can make them. */
#define BURST_NS 4000000
/* Of taken records, between two looks at the clock. */
enum { RECORDS_UNTIL_LOOK = 32 };
/* Of a round: one process can fill the backlog, and other processes wait for the round. */
#define DRAIN_NS 20000000

static enum ring_load load_of(const struct record_options *options)
{
    bool is_clock = options->event_count <= 1 && event_list_has_clock(options);
    return options->off_cpu_only ? RING_TASKS : is_clock ? RING_SAMPLES : RING_BURSTS;
}

/* Small rings of bursts have small copies: a cut stack has more than a lost sample. */
static uint32_t choose_stack_bytes(const struct ring_source *source,
                                   const struct record_options *options)
{
    const size_t room = ring_set_ring_bytes(&source->rings) / BURST_SAMPLES;
    uint32_t bytes = RING_STACK_BYTES;
    while (load_of(options) == RING_BURSTS && bytes > room && bytes > STACK_BYTES_MIN)
        bytes /= 2;
    return bytes;
}

static void connect(struct ring_source *source, const struct ring_source_config *config)
{
    const struct record_options *options = config->options;
    bool exclude_kernel = options->exclude_kernel || !thread_events_may_sample_kernel();
    source->round = config->round;
    source->started_ns = config->round->now_ns;
    source->shares_files = config->shares_files;
    source->can_grow = load_of(options) == RING_SAMPLES;
    source->options = options;
    source->events =
        (struct thread_events){.rings = source->rings.rings,
                               .ring_count = source->rings.count,
                               .requests = options->event_count ? options->events : NULL,
                               .period_ns = config->period_ns,
                               .stack_bytes = choose_stack_bytes(source, options),
                               .reach = config->reach,
                               .exclude_kernel = exclude_kernel,
                               .exclude_user = options->kernel_only,
                               .kernel_stacks = options->kernel_stacks};
    source->stack_bytes_max = source->events.stack_bytes;
    source->samples = (struct sample_writer){.file = config->file,
                                             .list = &source->written_frames,
                                             .summary = config->summary,
                                             .round = config->round,
                                             .main_row = event_list_main_row(options),
                                             .period_ns = config->period_ns};
    source->maps = (struct ring_maps){.modules = &source->modules,
                                      .file = config->file,
                                      .summary = config->summary,
                                      .round = config->round,
                                      .are_for_unwinders = options->raw_stacks};
    source->tasks = (struct ring_tasks){.maps = &source->maps,
                                        .samples = &source->samples,
                                        .round = config->round,
                                        .end_fd = -1,
                                        .exclude_kernel = exclude_kernel,
                                        .kernel_only = options->kernel_only,
                                        .has_system = config->reach == REACH_SYSTEM};
    source->unwinder.modules = &source->modules;
    source->unwinder.jit = &source->samples.jit;
}

int ring_source_open(struct ring_source *source, const struct ring_source_config *config)
{
    *source = (struct ring_source){.tasks.end_fd = -1, .cgroup_fd = -1};
    const struct record_options *options = config->options;
    const struct ring_demand demand = {.processors = config->processors,
                                       .events = options->event_count ? options->event_count : 1,
                                       .clocks = event_list_clocks(options),
                                       .load = load_of(options)};
    int err = ring_set_open(&source->rings, &demand);
    if (err == 0)
        err = ring_copier_start(&source->copier, source->rings.rings, source->rings.count);
    if (err)
        return err;
    connect(source, config);
    if (source->rings.is_short) {
        config->summary->short_ring_bytes = ring_set_ring_bytes(&source->rings);
        config->summary->short_rings = (uint32_t)source->rings.count;
    }
    if ((options->kernel_stacks || options->raw_stacks) && !config->has_kernel_image)
        kernel_image_write(config->file, config->round->now_ns);
    err = ring_modules_open(&source->modules, config->open_files);
    return err ? err : ring_tasks_open(&source->tasks);
}

void ring_source_close(struct ring_source *source)
{
    ring_tasks_close(&source->tasks);
    event_set_release(source->system);
    ring_copier_free(&source->copier);
    ring_set_close(&source->rings);
    ring_unwinder_free(&source->unwinder);
    jit_frames_free(&source->samples.jit);
    ring_modules_close(&source->modules);
    if (source->cgroup_fd >= 0)
        close(source->cgroup_fd);
    *source = (struct ring_source){.tasks.end_fd = -1, .cgroup_fd = -1};
}

static struct ring_process *process_of(struct ring_source *source, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&source->tasks.processes, (pid_t)record->pid);
    if (!process)
        process = ring_tasks_meet(&source->tasks, record);
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

static bool find_main_stack(struct ring_process *process)
{
    struct proc_stat stat;
    if (process->is_stack_known)
        return false;
    process->is_stack_known = true;
    process->stack_start_avma =
        proc_stat_read(&stat, process->process.pid, 0) == 0 ? stat.stack_start_avma : 0;
    return process->stack_start_avma != 0;
}

/* For the first incomplete stack of a thread: few programs have stacks of their own. For the first
 * stack in a process with fibers: only a stack made by the program starts at a fiber's function. */
static bool find_own_stack(struct ring_source *source, struct ring_process *process,
                           const struct ring_record *record)
{
    if (record->tid == record->pid)
        return find_main_stack(process);
    return thread_stacks_read(&source->unwinder.stacks, (pid_t)record->pid, (pid_t)record->tid);
}

/* Once more where the first walk shows what to read of the process before. */
static bool walk(struct ring_source *source, struct ring_process *process,
                 const struct ring_record *record, struct walked_sample *sample)
{
    if (!process->has_map)
        ring_maps_read(&source->maps, process, process->process.start_ns);
    ring_maps_read_files(&source->maps, process, record->time_ns);
    if (process->has_fibers)
        (void)find_own_stack(source, process, record);
    if (!ring_unwind(&source->unwinder, process, record, sample))
        return false;
    if (!sample->is_complete && find_own_stack(source, process, record))
        (void)ring_unwind(&source->unwinder, process, record, sample);
    bool leads_out = !sample->is_complete && sample->cut == RECORD_CUT_UNMAPPED;
    if (leads_out && ring_maps_read(&source->maps, process, record->time_ns))
        return ring_unwind(&source->unwinder, process, record, sample);
    return true;
}

/* False: the sample has no frame at all. With kernel_callers only the kernel's part has callers. */
static bool find_user_frames(struct ring_source *source, struct ring_process *process,
                             const struct ring_record *record, struct walked_sample *sample)
{
    bool has_frames = walk(source, process, record, sample);
    source->samples.summary->callers_verified += source->unwinder.searched.verified;
    source->samples.summary->callers_plausible += source->unwinder.searched.plausible;
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
    set->latest_cuts = is_cut && record->is_stack_full ? set->latest_cuts + 1 : 0;
    set->lacks_chains |= source->unwinder.lacks_chain;
    bool is_new = (is_cut && !set->keeps_size) || event_set_needs_chains(set);
    source->has_new_cuts |= is_new && source->can_grow;
}

static void take_sample(struct ring_source *source, const struct ring_record *record)
{
    struct ring_process *process = process_of(source, record);
    if (!process || source->round->is_quiet)
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
    const struct perfdata_stack_copy copy = {record->registers, record->stack, record->stack_bytes,
                                             record->is_stack_full};
    if (source->options->raw_stacks)
        sample.copy = &copy;
    if (sample.copy && is_kernel && sample.kernel_count == 0) { /* a mark is a user frame */
        sample.kernel_frames = &record->pc;
        sample.kernel_count = 1;
    }
    source->samples.summary->produced++;
    if (find_user_frames(source, process, record, &sample)) {
        sample.map = process->process.map;
        count_cut(source, set_of(source, process), record, &sample);
        sample_write(&source->samples, &sample);
    } else {
        write_mark(source, &sample);
    }
}

/* Whether the record is of the events that count at its time. The events of the parent write a
 * FORK. */
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
        ring_task_records_take(&source->tasks, record);
        break;
    }
}

uint64_t ring_source_fill_ns(const struct ring_source *source)
{
    const enum ring_load load = load_of(source->options);
    if (source->has_left)
        return 0;
    if (load == RING_TASKS)
        return UINT64_MAX;
    uint64_t samples =
        ring_set_ring_bytes(&source->rings) / (source->stack_bytes_max + SAMPLE_BYTES);
    uint64_t fill_ns = samples * source->events.period_ns;
    return load == RING_SAMPLES || fill_ns < BURST_NS ? fill_ns : BURST_NS;
}

/* limit_ns bounds a round: one process may fill rings faster than stacks are walked. */
static void take_copied(struct ring_source *source, uint64_t until_ns, uint64_t limit_ns)
{
    const uint64_t begin_ns = monotonic_ns();
    const struct ring_record *record;
    size_t taken = 0;
    source->has_left = false;
    while (!source->has_left && (record = ring_copier_next(&source->copier, until_ns))) {
        take(source, record);
        if (++taken % RECORDS_UNTIL_LOOK == 0)
            source->has_left = monotonic_ns() - begin_ns > limit_ns;
    }
}

void ring_source_drain(struct ring_source *source, uint64_t until_ns)
{
    ring_copier_copy(&source->copier);
    take_copied(source, until_ns, DRAIN_NS);
}

/* The records of a burst have no end: until now. */
void ring_source_catch_up(struct ring_source *source)
{
    ring_copier_copy(&source->copier);
    take_copied(source, monotonic_ns(), UINT64_MAX);
}

bool ring_source_has(struct ring_source *source, pid_t pid)
{
    if (ring_process_find(&source->tasks.processes, pid))
        return true;
    ring_copier_copy(&source->copier);
    return ring_copier_has_start(&source->copier, pid);
}

uint64_t ring_source_restart(struct ring_source *source)
{
    event_set_restart(source->system);
    return ring_ends_restart(&source->tasks);
}

/* A LOST record comes with the next record of its ring: none after the last burst. */
static void count_lost(struct ring_source *source)
{
    uint64_t *lost = &source->samples.summary->lost[RECORD_LOST_RING_FULL];
    if (*lost < source->tasks.lost)
        *lost = source->tasks.lost;
}

/* Closed events write no records: the loop ends when rings and backlog are empty. */
void ring_source_stop(struct ring_source *source)
{
    event_set_close(source->system);
    struct ring_process *process = NULL;
    while ((process = ring_process_next(&source->tasks.processes, process)))
        event_set_close(process->events);
    ring_copier_stop(&source->copier);
    do {
        ring_source_catch_up(source);
        ring_copier_copy(&source->copier);
    } while (ring_copier_has_records(&source->copier));
    count_lost(source);
    ring_ends_finish(&source->tasks);
    const struct left_out left_out = module_cache_left_out(source->modules.cache);
    source->samples.summary->files_left_out += left_out.files;
    source->samples.summary->tables_left_out += left_out.tables;
}
