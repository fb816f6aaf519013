/* SPDX-License-Identifier: MIT */
/*
 * The looks at the threads of a process, in the reading process (snapshot_take.c):
 *
 *     without --stop   each thread: look, at most LOOKS_MAX times while torn ─▶ stack, or the list
 *                      of running threads ─▶ a sample by an event on each (running_threads)
 *     with --stop      CFI first, then all threads stop ─▶ registers and stacks ─▶ resume; threads
 *                      that did not stop are looked at as above
 *
 * A look is torn if the thread ran in between: the switches of schedstat before and after the copy
 * of the stack differ.
 */
#include "record/attach/snapshot/snapshot_reader.h"

#include "base/clock.h"
#include "record/attach/snapshot/snapshot_capture.h"
#include "record/attach/snapshot/snapshot_map.h"
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/attach/snapshot/snapshot_rows.h"
#include "record/attach/snapshot/running_threads.h"
#include "record/attach/snapshot/stopped_threads.h"
#include "record/procfs/frozen_thread.h"
#include "record/procfs/blocked/wait_age.h"
#include "record/procfs/blocked/wait_object.h"
#include "record/procfs/blocked/wait_reason.h"
#include "record/procfs/living_task.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* Looks at a thread that keeps running between them. */
enum { LOOKS_MAX = 3 };
/* For all threads together. */
#define STOP_LIMIT_NS 200000000

struct reader {
    struct snapshot *snapshot;
    struct open_file_cache open_files;
    struct ring_modules modules;
    struct look_process process;
    struct process_map *map;
    struct blocked_looker looker;
    struct kernel_stacks kernel;
    uint64_t kernel_frames[KERNEL_STACK_FRAMES_MAX]; /* of the latest look */
    struct task_directory directory;
    struct wait_modules waits;
    struct snapshot_capture capture;
    struct running_threads running;
    bool is_frozen; /* the first thread, and so all, as far as they do not sleep in the kernel */
};

static void set_problem(struct snapshot_thread *thread, const char *text)
{
    snprintf(thread->problem, sizeof(thread->problem), "%s", text);
}

/* The frames are in the looker. */
static void keep_stack(struct reader *reader, struct snapshot_thread *thread,
                       const struct look_end *end, size_t kernel_count)
{
    if (end->frame_count == 0)
        return;
    snapshot_row_set_end(thread, end);
    const struct snapshot_stack stack = {.frames = reader->looker.frames,
                                         .frame_count = end->frame_count,
                                         .kernel_frames = reader->kernel_frames,
                                         .kernel_count = (uint32_t)kernel_count};
    snapshot_capture_add(&reader->capture, thread->tid, &stack);
}

/* The check of each thread would cost as much as its look. */
static bool is_frozen(const struct reader *reader, const struct snapshot_thread *thread,
                      const struct blocked_look *look)
{
    bool is_suspect =
        reader->is_frozen || thread->facts.state == 'D' || look->call.state == CALL_FAULTING;
    return is_suspect && strchr("SD", thread->facts.state) &&
           frozen_thread_check(reader->snapshot->pid, thread->tid);
}

static void keep_reason(struct reader *reader, struct snapshot_thread *thread,
                        const struct blocked_look *look)
{
    struct wait_reason reason = wait_reason_find(&reader->waits, &reader->process, look,
                                                 reader->looker.frames, thread->facts.state);
    thread->is_waiting = true;
    thread->kind = is_frozen(reader, thread, look) ? WAIT_FROZEN : reason.kind;
    if (thread->kind == WAIT_FROZEN)
        return;
    thread->descriptor = reason.descriptor;
    thread->futex_avma = reason.futex_avma;
    thread->holder = reason.holder;
    thread->child = reason.child;
    thread->polled = reason.polled;
    if (reason.call)
        snprintf(thread->call, sizeof(thread->call), "%s", reason.call);
    if (reason.descriptor >= 0)
        wait_object_describe(reader->process.pid, reason.descriptor, thread->object,
                             sizeof(thread->object));
}

static void add_running(struct reader *reader, struct snapshot_thread *thread,
                        const struct run_account *account)
{
    reader->running.items[reader->running.count++] = (struct running_thread){thread, *account};
}

static void take_look(struct reader *reader, struct snapshot_thread *thread,
                      const struct blocked_look *look)
{
    switch (look->result) {
    case LOOK_STACK:
        keep_reason(reader, thread, look);
        keep_stack(reader, thread, &look->end,
                   kernel_stacks_parse(&reader->kernel, reader->looker.kernel_stack,
                                       reader->kernel_frames));
        thread->is_inferred = look->inferred_fps > 0;
        break;
    case LOOK_RUNNING:
    case LOOK_TORN:
        add_running(reader, thread, &look->account);
        break;
    case LOOK_STACKLESS:
        set_problem(thread, thread->facts.state == 'Z'
                                ? "has ended; other threads go on"
                                : "a thread of the kernel, without a user stack");
        break;
    case LOOK_FAILED:
        snapshot_row_set_failure(thread, look->error);
        break;
    }
}

static void look_at(struct reader *reader, struct snapshot_thread *thread)
{
    struct thread_files files = {-1, -1, -1};
    struct blocked_look look = {.result = LOOK_FAILED};
    look.error =
        thread_files_open_in(&files, &reader->directory, reader->snapshot->pid, thread->tid);
    if (look.error == 0 && reader->kernel.is_on)
        thread_files_open_stack(&files, &reader->directory, thread->tid);
    for (int i = 0; look.error == 0 && i < LOOKS_MAX; i++) {
        look = blocked_look(&reader->looker, &reader->process, &files);
        reader->snapshot->torn += look.result == LOOK_TORN;
        if (look.result != LOOK_TORN)
            break;
    }
    take_look(reader, thread, &look);
    thread_files_close(&files);
}

/* Callback of struct running_handler. */
static void keep_sample(void *context, struct snapshot_thread *thread,
                        const struct ring_record *record)
{
    struct reader *reader = context;
    struct full_regs regs;
    if (record->abi != PERF_SAMPLE_REGS_ABI_64 ||
        !unwind_machine_captured(unwind_machine_own(), &regs, RING_REGISTERS, record->registers)) {
        set_problem(thread, "a 32-bit program");
        return;
    }
    struct stack_view stack = {.lo = regs.value[UNWIND_DWARF_SP],
                               .hi = regs.value[UNWIND_DWARF_SP] + record->stack_bytes,
                               .bytes = record->stack};
    const struct look_end end =
        blocked_looker_walk(&reader->looker, &reader->process, &regs, &stack);
    keep_stack(reader, thread, &end, 0);
}

/* Callback of struct running_handler. */
static bool look_again(void *context, struct snapshot_thread *thread)
{
    struct reader *reader = context;
    size_t running_count = reader->running.count;
    look_at(reader, thread);
    bool runs = reader->running.count > running_count;
    reader->running.count = running_count; /* the list has the thread already */
    return !runs;
}

static int by_processor(const void *a, const void *b)
{
    const struct snapshot_thread *const *left = a, *const *right = b;
    return (*left)->facts.processor - (*right)->facts.processor;
}

static void find_ages(struct snapshot *snapshot)
{
    struct wait_clock clock;
    struct snapshot_thread **order = calloc(snapshot->count + 1, sizeof(*order));
    for (size_t i = 0; order && i < snapshot->count; i++)
        order[i] = &snapshot->threads[i];
    if (order)
        qsort(order, snapshot->count, sizeof(struct snapshot_thread *), by_processor);
    wait_clock_begin(&clock);
    for (size_t i = 0; order && i < snapshot->count; i++)
        order[i]->age_ns =
            wait_clock_age_ns(&clock, snapshot->pid, order[i]->tid, order[i]->facts.processor);
    wait_clock_end(&clock);
    free(order);
}

static int list_threads(struct snapshot *snapshot)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)snapshot->pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count && snapshot->count < snapshot->capacity; i++) {
        struct snapshot_thread *thread = &snapshot->threads[snapshot->count];
        *thread =
            (struct snapshot_thread){.tid = tids[i], .descriptor = -1, .age_ns = WAIT_AGE_UNKNOWN};
        snapshot->count += thread_facts_read(&thread->facts, snapshot->pid, tids[i]) == 0;
    }
    free(tids);
    return snapshot->count > 0 ? 0 : -ESRCH;
}

static int open_reader(struct reader *reader, const struct snapshot_request *request)
{
    struct snapshot *snapshot = reader->snapshot;
    const pid_t task = living_task_find(snapshot->pid);
    struct rights rights = proc_rights_of(snapshot->pid);
    reader->running.items = calloc(snapshot->count + 1, sizeof(*reader->running.items));
    int err =
        reader->running.items ? ring_modules_open(&reader->modules, &reader->open_files) : -ENOMEM;
    if (err == 0)
        err = snapshot_map_read(&reader->map, &reader->modules, task, &rights);
    reader->process =
        (struct look_process){task, reader->modules.cache, reader->map, .generation = 1};
    reader->is_frozen = frozen_thread_check(snapshot->pid, snapshot->threads[0].tid);
    if (err == 0)
        err = snapshot_capture_open(&reader->capture, snapshot, reader->map, request->capture_fd);
    if (err == 0 && request->with_kernel_stacks && kernel_stacks_are_permitted()) {
        snapshot_capture_map_kernel(&reader->capture);
        struct kernel_symbols symbols;
        kernel_symbols_open_running(&symbols);
        kernel_stacks_open(&reader->kernel, &symbols);
    }
    return err;
}

static void close_reader(struct reader *reader)
{
    task_directory_close(&reader->directory);
    kernel_stacks_close(&reader->kernel);
    snapshot_capture_close(&reader->capture);
    blocked_looker_free(&reader->looker);
    wait_modules_free(&reader->waits);
    process_map_release(reader->map);
    ring_modules_close(&reader->modules);
    open_file_cache_free(&reader->open_files);
    free(reader->running.items);
}

/* Reads CFI before the stop, so that the stop is short. */
static void read_cfi(struct reader *reader)
{
    struct thread_files files;
    for (size_t i = 0; i < reader->snapshot->count; i++) {
        if (thread_files_open(&files, reader->snapshot->pid, reader->snapshot->threads[i].tid) == 0)
            (void)blocked_look(&reader->looker, &reader->process, &files);
        thread_files_close(&files);
    }
}

static void look_at_stopped(struct reader *reader, struct snapshot_thread *thread,
                            const struct full_regs *regs)
{
    struct thread_files files;
    struct blocked_call call = {.state = CALL_RUNNING};
    if (thread_files_open(&files, reader->snapshot->pid, thread->tid) == 0)
        (void)thread_files_call(&files, &call);
    thread_files_close(&files);
    struct blocked_look look = blocked_look_from(&reader->looker, &reader->process, regs);
    look.call = call;
    if (look.result == LOOK_FAILED) {
        snapshot_row_set_failure(thread, look.error);
        return;
    }
    if (call.state == CALL_WAITING && thread->facts.state != 'R')
        keep_reason(reader, thread, &look);
    keep_stack(reader, thread, &look.end, 0);
}

/* Threads that do not stop are looked at as without a stop. */
static int read_stopped(struct reader *reader)
{
    struct snapshot *snapshot = reader->snapshot;
    struct stopped_thread *stopped = calloc(snapshot->count, sizeof(*stopped));
    struct full_regs regs;
    if (!stopped)
        return -ENOMEM;
    for (size_t i = 0; i < snapshot->count; i++)
        stopped[i].tid = snapshot->threads[i].tid;
    stopped_threads_stop(stopped, snapshot->count, STOP_LIMIT_NS);
    for (size_t i = 0; i < snapshot->count; i++)
        if (stopped_thread_registers(&stopped[i], &regs))
            look_at_stopped(reader, &snapshot->threads[i], &regs);
    stopped_threads_resume(stopped, snapshot->count);
    for (size_t i = 0; i < snapshot->count; i++) {
        snapshot->threads[i].stop_error = stopped[i].error;
        if (!snapshot->threads[i].has_stack && !snapshot->threads[i].problem[0])
            look_at(reader, &snapshot->threads[i]);
    }
    free(stopped);
    return 0;
}

static int read_stacks(struct reader *reader, bool is_stopping)
{
    if (is_stopping) {
        read_cfi(reader);
        find_ages(reader->snapshot);
        return read_stopped(reader);
    }
    for (size_t i = 0; i < reader->snapshot->count; i++)
        look_at(reader, &reader->snapshot->threads[i]);
    find_ages(reader->snapshot);
    return 0;
}

int snapshot_read(struct snapshot *snapshot, const struct snapshot_request *request)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return -ENOMEM;
    reader->snapshot = snapshot;
    int err = list_threads(snapshot);
    if (err == 0)
        err = open_reader(reader, request);
    if (err == 0)
        err = read_stacks(reader, request->is_stopping);
    if (err == 0) {
        const struct running_handler handler = {reader, keep_sample, look_again};
        running_threads_sample(&reader->running, snapshot->pid, &handler);
        err = snapshot_capture_finish(&reader->capture);
    }
    close_reader(reader);
    free(reader);
    return err;
}
