/* SPDX-License-Identifier: MIT */
/*
 * A look:
 *
 *     probe_memory()     whether the memory of the process can be read at all
 *     read_map()         once; again when code was mapped since, and a stack leads out of the map
 *     blocked_look()     system call, stack, account: frames, or why there are none
 *     keep_stack()       the reason as leaf │ kernel frames │ user frames ─▶ thread->look.stack
 *                        mappings of these frames ─▶ queue, once for each program
 */
#include "record/off_cpu/off_looks.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "base/pid_fd.h"
#include "base/text/path_name.h"
#include "record/attach/snapshot/snapshot_map.h"
#include "record/off_cpu/file/wait_frames.h"
#include "record/procfs/blocked/wait_calls.h"
#include "record/procfs/proc.h"
#include "wire/session.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

/* Mappings are read again at the earliest after this many times the duration of a read. */
enum { READ_COST_PARTS = 50 };
/* In the file, of a program. */
enum { MAPPINGS_MAX = 4096 };
/* For so long a thread in state S shows for all threads of the process: not stopped. */
#define ASLEEP_NS 1000000
/* After this time files are opened again that were put off. */
#define FILES_PAUSE_NS UINT64_C(1000000000)

int off_looks_open(struct off_looks *looks, struct open_file_cache *open_files,
                   bool with_kernel_stacks)
{
    if (with_kernel_stacks) {
        struct kernel_symbols symbols;
        kernel_symbols_open_running(&symbols);
        kernel_stacks_open(&looks->kernel, &symbols);
    }
    looks->probe = memory_probe_new();
    return ring_modules_open(&looks->modules, open_files);
}

void off_looks_pause(struct off_looks *looks)
{
    task_directory_close(&looks->directory);
}

void off_looks_close(struct off_looks *looks)
{
    off_looks_pause(looks);
    memory_probe_free(looks->probe);
    kernel_stacks_close(&looks->kernel);
    blocked_looker_free(&looks->looker);
    wait_modules_free(&looks->wait_modules);
    ring_modules_close(&looks->modules);
}

/* 0, or the negative errno without a map. */
static int read_map(struct off_looks *looks, struct off_process *process)
{
    struct process_map *map;
    uint64_t begin_ns = monotonic_ns();
    if (process->map && begin_ns < process->map_due_ns)
        return 0;
    process->files_due_ns = 0;
    struct rights rights = proc_rights_of_owner(process->pid);
    int err = snapshot_map_read(&map, &looks->modules, process->pid, &rights);
    if (err)
        return process->map ? 0 : err;
    uint64_t end_ns = monotonic_ns();
    process_map_release(process->map);
    process->map = map;
    process->generation = ++looks->tasks->generation;
    process->is_map_old = false;
    process->map_due_ns = end_ns + READ_COST_PARTS * (end_ns - begin_ns);
    return 0;
}

/* NULL: not in the file. */
static struct off_mapping *find_written(const struct off_process *process,
                                        const struct process_mapping *mapping)
{
    for (size_t i = 0; i < process->written_count; i++) {
        struct off_mapping *written = &process->written[i];
        if (written->start_avma == mapping->start_avma && written->end_avma == mapping->end_avma &&
            written->file_offset == mapping->file_offset && written->inode == mapping->inode)
            return written;
    }
    return NULL;
}

static void put_mapping(struct off_looks *looks, const struct off_thread *thread,
                        const struct process_mapping *mapping)
{
    const struct off_process *process = thread->process;
    struct off_entry entry = {.kind = OFF_ENTRY_MAPPING,
                              .pid = process->pid,
                              .tid = process->pid,
                              .time_ns = thread->run.since_ns, /* before the wait's samples */
                              .since_ns = process->program_ns,
                              .program_ns = process->program_ns,
                              .mapping = {.start_avma = mapping->start_avma,
                                          .end_avma = mapping->end_avma,
                                          .file_offset = mapping->file_offset}};
    const char *path = mapping->path[0] ? mapping->path : "//anon";
    if (mapping->module) {
        entry.mapping.build_id_bytes = (uint32_t)mapping->module->build_id_bytes;
        memcpy(entry.mapping.build_id, mapping->module->build_id, sizeof(entry.mapping.build_id));
    }
    off_queue_put(looks->queue, &entry, path, strlen(path) + 1);
}

/* The file needs a mapping before the first sample of its frames, once. */
static void write_mapping(struct off_looks *looks, const struct off_thread *thread,
                          const struct process_mapping *mapping)
{
    struct off_process *process = thread->process;
    struct off_mapping *written = find_written(process, mapping);
    /* Once more with the build-id of a file that was put off. */
    if (written && (written->has_module || !mapping->module))
        return;
    if (!written && process->written_count < MAPPINGS_MAX)
        written = ARRAY_PUSH(process->written, process->written_count, process->written_capacity);
    if (!written)
        return;
    *written = (struct off_mapping){mapping->start_avma, mapping->end_avma, mapping->file_offset,
                                    mapping->inode, mapping->module != NULL};
    put_mapping(looks, thread, mapping);
}

/* Readers take the first file that a process maps for its program: the lowest one in memory. */
static void write_program(struct off_looks *looks, const struct off_thread *thread)
{
    const struct process_map *map = thread->process->map;
    for (size_t i = 0; map && i < map->count; i++)
        if (map->mappings[i].module) {
            write_mapping(looks, thread, &map->mappings[i]);
            return;
        }
}

static void write_mappings(struct off_looks *looks, const struct off_thread *thread,
                           uint32_t frame_count)
{
    const struct off_process *process = thread->process;
    if (process->written_count == 0)
        write_program(looks, thread);
    for (uint32_t i = 0; i < frame_count && process->map; i++) {
        uint64_t pc = looks->looker.frames[i] - (i > 0);
        const struct process_mapping *mapping = process_map_find(process->map, pc);
        if (mapping)
            write_mapping(looks, thread, mapping);
    }
}

static struct look_process look_process_of(const struct off_looks *looks,
                                           const struct off_process *process)
{
    return (struct look_process){.pid = process->pid,
                                 .modules = looks->modules.cache,
                                 .map = process->map,
                                 .generation = process->generation};
}

/* A second look with a new map, if the first one left the old map. */
static struct blocked_look look_at(struct off_looks *looks, struct off_process *process,
                                   const struct thread_files *files)
{
    struct look_process target = look_process_of(looks, process);
    looks->looker.is_put_off = false;
    struct blocked_look look = blocked_look(&looks->looker, &target, files);
    if (looks->looker.is_put_off && process->files_due_ns == 0)
        process->files_due_ns = monotonic_ns() + FILES_PAUSE_NS;
    bool leads_out = look.end.why == OFFLINE_UNMAPPED || look.end.why == OFFLINE_NO_CODE;
    leads_out = leads_out && look.result == LOOK_STACK && process->is_map_old;
    if (!leads_out || read_map(looks, process) != 0)
        return look;
    target = look_process_of(looks, process);
    return blocked_look(&looks->looker, &target, files);
}

static void count(struct look_counts *counts, const struct blocked_look *look)
{
    bool is_stack = look->result == LOOK_STACK;
    bool is_refused = look->error == -EPERM || look->error == -EACCES;
    counts->looks++;
    counts->torn += look->result == LOOK_TORN;
    counts->running += look->result == LOOK_RUNNING;
    counts->stackless += look->result == LOOK_STACKLESS;
    counts->refused += look->result == LOOK_FAILED && is_refused;
    counts->hanging += look->error == -ETIMEDOUT;
    counts->failed += look->result == LOOK_FAILED && !is_refused && look->error != -ETIMEDOUT;
    counts->incomplete += is_stack && !look->end.is_complete;
    counts->inferred += is_stack && look->inferred_fps > 0;
    counts->guessed += is_stack && look->end.why == OFFLINE_GUESS;
}

/* The object of the wait: a futex, the holder of a mutex, a child, or the file behind a
 * descriptor. */
static void keep_object(struct off_looks *looks, pid_t pid, const struct wait_reason *reason,
                        struct look_stack *stack)
{
    stack->object_avma = reason->futex_avma;
    stack->object_number = (uint64_t)(reason->holder ? reason->holder : reason->child);
    if (reason->descriptor < 0)
        return;
    stack->descriptor_object =
        off_objects_find(&looks->waits->samples.objects, pid, reason->descriptor);
    stack->object_number = stack->descriptor_object;
}

static bool is_sampler(const struct off_process *process, uint64_t return_avma)
{
    const struct process_mapping *mapping = process_map_find(process->map, return_avma - 1);
    return mapping && strcmp(path_name(mapping->path), SESSION_SAMPLER_NAME) == 0;
}

/* The sampler's own wait, without a function of the C library. */
static bool waits_for_rec(struct off_looks *looks, const struct off_process *process,
                          const struct blocked_look *look)
{
    return look->call.state == CALL_WAITING && look->call.number == SYS_futex &&
           is_sampler(process, looks->looker.frames[0]);
}

/* Functions of the sampler around calls of the C library are no part of the program. */
static void drop_sampler(struct off_looks *looks, const struct off_process *process,
                         struct look_frames *kept)
{
    uint64_t *frames = looks->looker.frames;
    uint32_t left = kept->frame_count > 0, before_mark = kept->before_mark;
    for (uint32_t i = 1; i < kept->frame_count; i++)
        if (!is_sampler(process, frames[i]))
            frames[left++] = frames[i];
        else
            before_mark -= i < kept->before_mark;
    kept->frame_count = left;
    kept->before_mark = before_mark;
}

/* A stop concerns all threads of a process: one read stands for the threads looked at next. Waits
 * for a disk are those of single threads, outside of the calls that block. */
static char state_of(struct off_process *process, pid_t tid, const struct blocked_call *call)
{
    struct proc_stat stat = {.state = 'S'};
    uint64_t now_ns = monotonic_ns();
    bool may_be_stopped = now_ns - process->asleep_ns > ASLEEP_NS;
    if (!may_be_stopped && call->state == CALL_WAITING && wait_call_find(call->number))
        return 'S';
    (void)proc_stat_read(&stat, process->pid, tid);
    process->asleep_ns = stat.state == 'S' ? now_ns : 0;
    return stat.state;
}

static void keep_stack(struct off_looks *looks, struct off_thread *thread,
                       const struct blocked_look *look)
{
    struct off_process *process = thread->process;
    const struct look_process target = look_process_of(looks, process);
    char state = state_of(process, thread->tid, &look->call);
    struct wait_reason reason =
        wait_reason_find(&looks->wait_modules, &target, look, looks->looker.frames, state);
    if (waits_for_rec(looks, process, look))
        reason.kind = WAIT_REC;
    uint64_t kernel_frames[KERNEL_STACK_FRAMES_MAX];
    struct look_frames frames = {
        .reason_avma = wait_frame_avma(reason.kind),
        .kernel_frames = kernel_frames,
        .frames = looks->looker.frames,
        .kernel_count = (uint32_t)kernel_stacks_parse(&looks->kernel, looks->looker.kernel_stack,
                                                      kernel_frames),
        .frame_count = look->end.frame_count,
        .mark_avma = look->end.is_complete ? 0 : synthetic_avma(SYNTHETIC_TRUNCATED),
        .before_mark = look->end.before_gap ? look->end.before_gap : look->end.frame_count};
    drop_sampler(looks, process, &frames);
    write_mappings(looks, thread, frames.frame_count);
    thread->look.stack = look_stack_new(&frames);
    if (thread->look.stack)
        keep_object(looks, process->pid, &reason, thread->look.stack);
}

/* A new map, as the present one keeps files that were put off, and walks are cached for the map. */
static bool are_files_due(const struct off_process *process)
{
    return process->files_due_ns && monotonic_ns() >= process->files_due_ns;
}

/* Before the first look of a tick at the process. */
static int probe_memory(struct off_looks *looks, struct off_process *process)
{
    if (process->hanging && !memory_probe_is_over(process->hanging))
        return -ETIMEDOUT;
    memory_probe_free(process->hanging);
    process->hanging = NULL;
    looks->probed = process;
    if (looks->probe && looks->directory.pid != process->pid)
        memory_probe_read(looks->probe, process->pid);
    return 0;
}

/* The probe belongs to the hanging thread from now on, and its state shows when the read
 * returns. */
bool off_looks_give_up(struct off_looks *looks, uint64_t now_ns)
{
    if (!memory_probe_give_up(looks->probe, now_ns))
        return false;
    looks->probed->hanging = looks->probe;
    looks->probe = memory_probe_new();
    looks->counts.looks++;
    looks->counts.hanging++;
    looks->counts.hanging_programs++;
    return true;
}

/* Checked after the look: the pid may have been given again since the latest record. */
static bool is_of_other(struct off_process *process)
{
    process->is_other |= process->pid_fd > 0 && pid_fd_is_reaped(process->pid_fd);
    return process->is_other;
}

void off_look(struct off_looks *looks, struct off_thread *thread)
{
    struct off_process *process = thread->process;
    struct thread_files files = {-1, -1, -1};
    struct blocked_look look = {.result = LOOK_FAILED};
    thread->look.tries++;
    thread->look.begin_ns = monotonic_ns();
    look.error = process->is_refused ? -EPERM
                 : process->is_other ? -ESRCH
                                     : probe_memory(looks, process);
    if (look.error == 0 && (!process->map || are_files_due(process)))
        look.error = read_map(looks, process);
    if (look.error == 0)
        look.error = thread_files_open_in(&files, &looks->directory, process->pid, thread->tid);
    if (look.error == 0 && looks->kernel.is_on)
        thread_files_open_stack(&files, &looks->directory, thread->tid);
    if (look.error == 0)
        look = look_at(looks, process, &files);
    if (look.error == 0 && is_of_other(process))
        look = (struct blocked_look){.result = LOOK_FAILED, .error = -ESRCH};
    thread_files_close(&files);
    thread->look.end_ns = monotonic_ns();
    thread->look.turns = look.account.turns;
    if (look.error == 0)
        off_waits_take_account(looks->waits, thread, &look.account);
    thread->look.woken_ns = thread->delay.turns_ahead ? LOOK_WOKEN_UNKNOWN : thread->delay.woken_ns;
    count(&looks->counts, &look);
    if (look.result == LOOK_STACK && look.end.frame_count > 0)
        keep_stack(looks, thread, &look);
    if (!process->is_refused && (look.error == -EPERM || look.error == -EACCES)) {
        process->is_refused = true;
        looks->counts.refused_programs++;
    }
}
