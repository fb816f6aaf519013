/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_task_records.h"

#include "base/containers/array.h"
#include "record/perf_ring/ring_ends.h"
#include "record/procfs/proc.h"

#include <stdio.h>
#include <string.h>

static void take_fork(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&tasks->processes, (pid_t)record->pid);
    if (record->pid != record->parent_pid) {
        if (process) /* EXIT was lost, and the pid is in use again */
            ring_ends_take(tasks, process, record->time_ns - 1);
        process = ring_tasks_add_child(tasks, record);
    }
    if (process && !ring_tasks_has_thread(tasks, (pid_t)record->tid))
        ring_tasks_add_forked(tasks, process, record);
}

/* execve() ends all other threads; the caller gets the id of the first thread. */
static void take_exec(struct ring_tasks *tasks, struct ring_process *process,
                      const struct ring_record *record)
{
    tid_set_put(&tasks->tids, process->process.pid, true);
    process->live_threads = 1;
    process->process.start_ns = record->time_ns;
    process->process.rights =
        proc_rights_of_owner(ring_process_is_own(process) ? process->process.pid : -1);
    memset(process->process.thread_root_avmas, 0, sizeof(process->process.thread_root_avmas));
    memset(process->roots, 0, sizeof(process->roots));
    ring_maps_clear(tasks->maps, process);
    if (process->awaits_exec) {
        pid_t *place = ARRAY_PUSH(tasks->executed, tasks->executed_count, tasks->executed_capacity);
        if (place)
            *place = process->process.pid;
    }
    process->awaits_exec = false;
    ring_tasks_start_program(tasks, process);
}

/* The first thread names the process; so does an exec by any thread. */
static void take_name(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&tasks->processes, (pid_t)record->pid);
    if (!process)
        return;
    bool is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
    if (is_exec || record->tid == record->pid)
        snprintf(process->process.name, sizeof(process->process.name), "%s", record->text);
    if (is_exec)
        take_exec(tasks, process, record);
    else
        ring_tasks_write_name(tasks, process, (pid_t)record->tid, record->text, record->time_ns);
}

/* Of the system, only threads with samples are known. Samples follow the EXIT, because the kernel
 * then takes the task down: ring_ends_look() ends the process later. */
static void leave_system(struct ring_process *process, const struct ring_record *record)
{
    if (record->tid == record->pid)
        process->process.gone_ns = record->time_ns;
}

/* An EXIT has the parent of now: init, or a subreaper. Older kernels write the task itself
 * (perf_event_task_output() in kernel/events/core.c). */
static bool is_orphan(const struct ring_process *process, const struct ring_record *record)
{
    return record->parent_pid != (uint32_t)process->process.parent_pid &&
           record->parent_pid != record->pid;
}

/* The first thread may end before the others: the EXIT of the process is the EXIT of its last
 * thread. */
static void take_exit(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&tasks->processes, (pid_t)record->pid);
    if (!process || !(tasks->has_system || ring_tasks_has_thread(tasks, (pid_t)record->tid)))
        return;
    tid_set_put(&tasks->tids, (pid_t)record->tid, false);
    if (process->live_threads > 0)
        process->live_threads--;
    if (tasks->has_system) {
        leave_system(process, record);
        return;
    }
    if (process->live_threads == 0) {
        process->is_orphan = is_orphan(process, record);
        ring_ends_take(tasks, process, record->time_ns);
        return;
    }
    struct perfdata_task task = {.pid = record->pid,
                                 .tid = record->tid,
                                 .parent_pid = record->parent_pid,
                                 .parent_tid = record->parent_tid,
                                 .time_ns = record->time_ns};
    if (record->tid != record->pid)
        perfdata_write_exit(tasks->samples->file, &task);
}

void ring_task_records_take(struct ring_tasks *tasks, const struct ring_record *record)
{
    switch (record->type) {
    case PERF_RECORD_FORK:
        take_fork(tasks, record);
        break;
    case PERF_RECORD_COMM:
        take_name(tasks, record);
        break;
    case PERF_RECORD_EXIT:
        take_exit(tasks, record);
        break;
    default:
        break;
    }
}
