/* SPDX-License-Identifier: MIT */
#include "convert/load/tasks.h"

#include "base/budget.h"
#include "base/containers/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tasks_init(struct tasks *tasks, struct profile *profile)
{
    *tasks = (struct tasks){.profile = profile, .pids = intern_new(), .tids = intern_new()};
    return tasks->pids && tasks->tids ? 0 : -ENOMEM;
}

void tasks_free(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->process_count; i++)
        address_map_free(&tasks->processes[i].map);
    free(tasks->processes);
    free(tasks->latest_process);
    free(tasks->latest_thread);
    if (tasks->pids)
        intern_free(tasks->pids);
    if (tasks->tids)
        intern_free(tasks->tids);
    *tasks = (struct tasks){0};
}

static int out_of_memory(struct tasks *tasks)
{
    tasks->profile->failed = true;
    return -ENOMEM;
}

/* The slot of an id's latest process or thread; holds PROFILE_NONE if new. */
static uint32_t *slot_of(struct tasks *tasks, struct intern *ids, uint32_t id, uint32_t **latest,
                         size_t *count, size_t *capacity)
{
    uint32_t index = intern_add(ids, &id, sizeof(id));
    if (index == INTERN_NONE || index > *count) {
        tasks->profile->failed = true;
        return NULL;
    }
    if (index < *count)
        return &(*latest)[index];
    uint32_t *slot = ARRAY_PUSH(*latest, *count, *capacity);
    if (slot)
        *slot = PROFILE_NONE;
    else
        tasks->profile->failed = true;
    return slot;
}

static uint32_t *process_slot(struct tasks *tasks, uint32_t pid)
{
    return slot_of(tasks, tasks->pids, pid, &tasks->latest_process, &tasks->pid_count,
                   &tasks->pid_capacity);
}

static uint32_t *thread_slot(struct tasks *tasks, uint32_t tid)
{
    return slot_of(tasks, tasks->tids, tid, &tasks->latest_thread, &tasks->tid_count,
                   &tasks->tid_capacity);
}

/* An id means another task from now on. */
static void forget_recent(struct tasks *tasks)
{
    memset(tasks->recent, 0, sizeof(tasks->recent));
}

/* Without a COMM record, the id is the name, as in perf script. */
static uint32_t name_by_id(struct profile *profile, int32_t id)
{
    char name[16];
    snprintf(name, sizeof(name), ":%" PRId32, id);
    return profile_string(profile, name);
}

static uint32_t add_process(struct tasks *tasks, uint32_t pid, uint32_t *slot, uint64_t time_ns)
{
    struct profile *profile = tasks->profile;
    struct profile_process *process =
        ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity);
    struct task_process *task =
        ARRAY_PUSH(tasks->processes, tasks->process_count, tasks->process_capacity);
    if (!process || !task) {
        profile->failed = true;
        return PROFILE_NONE;
    }
    uint32_t number = *slot == PROFILE_NONE ? 0 : profile->processes[*slot].number + 1;
    *process = (struct profile_process){.pid = (int32_t)pid,
                                        .number = number,
                                        .name = pid ? name_by_id(profile, (int32_t)pid)
                                                    : profile_string(profile, "swapper"),
                                        .jit_dump = PROFILE_NONE,
                                        .start_ns = time_ns};
    *slot = (uint32_t)profile->process_count - 1;
    forget_recent(tasks);
    return *slot;
}

uint32_t tasks_process(struct tasks *tasks, uint32_t pid, uint64_t time_ns)
{
    uint32_t *slot = process_slot(tasks, pid);
    if (!slot)
        return PROFILE_NONE;
    return *slot != PROFILE_NONE ? *slot : add_process(tasks, pid, slot, time_ns);
}

static uint32_t add_thread(struct tasks *tasks, uint32_t process, uint32_t tid, uint32_t *slot,
                           uint64_t time_ns)
{
    struct profile *profile = tasks->profile;
    struct profile_thread *thread =
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    if (!thread) {
        profile->failed = true;
        return PROFILE_NONE;
    }
    const struct profile_process *of = &profile->processes[process];
    bool is_named = of->name != name_by_id(profile, of->pid);
    *thread =
        (struct profile_thread){.process = process,
                                .tid = (int32_t)tid,
                                .name = is_named ? of->name : name_by_id(profile, (int32_t)tid),
                                .cgroup = PROFILE_NONE,
                                .is_main = (int32_t)tid == of->pid,
                                .start_ns = time_ns};
    tasks->processes[process].live_threads++;
    *slot = (uint32_t)profile->thread_count - 1;
    forget_recent(tasks);
    return *slot;
}

static uint32_t find_thread(struct tasks *tasks, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    uint32_t process = tasks_process(tasks, pid, time_ns);
    uint32_t *slot = process == PROFILE_NONE ? NULL : thread_slot(tasks, tid);
    if (!slot)
        return PROFILE_NONE;
    if (*slot != PROFILE_NONE && tasks->profile->threads[*slot].process == process)
        return *slot;
    return add_thread(tasks, process, tid, slot, time_ns);
}

uint32_t tasks_thread(struct tasks *tasks, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    struct task_recent *recent = &tasks->recent[tid % TASKS_RECENT];
    if (!recent->is_set || recent->pid != pid || recent->tid != tid) {
        uint32_t thread = find_thread(tasks, pid, tid, time_ns); /* may forget all */
        *recent = (struct task_recent){pid, tid, thread, thread != PROFILE_NONE};
    }
    return recent->is_set ? recent->thread : PROFILE_NONE;
}

uint32_t tasks_find_thread(const struct tasks *tasks, uint32_t tid)
{
    uint32_t index = intern_find(tasks->tids, &tid, sizeof(tid));
    return index < tasks->tid_count ? tasks->latest_thread[index] : PROFILE_NONE;
}

int tasks_comm(struct tasks *tasks, const struct perfdata_event *event)
{
    struct profile *profile = tasks->profile;
    uint32_t index = tasks_thread(tasks, event->pid, event->tid, event->time_ns);
    uint32_t name = profile_string(profile, event->name);
    if (index == PROFILE_NONE || name == PROFILE_NONE)
        return -ENOMEM;
    struct profile_thread *thread = &profile->threads[index];
    struct profile_process *process = &profile->processes[thread->process];
    struct task_process *task = &tasks->processes[thread->process];
    thread->name = name;
    if (event->is_exec) {
        task->has_program = false;
        address_map_exec(&task->map);
        /* Another thread than the first called execve(): the kernel ended the first, and gave
         * its tid to the calling thread. */
        if (task->live_threads > 0)
            thread->end_ns = 0;
    }
    /* Programs rename their main thread, too; the process keeps its program's name. */
    if (event->is_exec || (thread->is_main && !task->is_named_by_exec))
        process->name = name;
    task->is_named_by_exec |= event->is_exec;
    return 0;
}

/* Children without an exec keep a copy of their parent's map. A file of one megabyte can require
 * gigabytes of copies. */
static int copy_map(struct tasks *tasks, uint32_t child, uint32_t parent)
{
    struct address_map *from = &tasks->processes[parent].map;
    address_map_forget_former(from); /* a forking thread has left exec */
    if (from->count > budget_amount(BUDGET_COPIED_MAPPINGS) - tasks->copied_mappings) {
        tasks->without_map++;
        return 0;
    }
    tasks->copied_mappings += from->count;
    return address_map_copy(&tasks->processes[child].map, from) == 0 ? 0 : out_of_memory(tasks);
}

/* A living process with this pid has ended without a record. The parent need not be recorded:
 * the first process's parent is the recorder. */
static int fork_process(struct tasks *tasks, const struct perfdata_event *event)
{
    struct profile *profile = tasks->profile;
    const uint32_t *parent_slot = process_slot(tasks, event->parent_pid);
    uint32_t parent = parent_slot ? *parent_slot : PROFILE_NONE;
    uint32_t *slot = process_slot(tasks, event->pid);
    uint32_t child = slot ? add_process(tasks, event->pid, slot, event->time_ns) : PROFILE_NONE;
    if (child == PROFILE_NONE)
        return -ENOMEM;
    profile->processes[child].parent_pid = (int32_t)event->parent_pid;
    if (parent == PROFILE_NONE)
        return 0;
    profile->processes[child].name = profile->processes[parent].name;
    if (event->was_there)
        return 0;
    tasks->processes[child].has_program = tasks->processes[parent].has_program;
    return copy_map(tasks, child, parent);
}

/* A new thread, or a new process with its main thread. */
int tasks_fork(struct tasks *tasks, const struct perfdata_event *event)
{
    int err = event->pid == event->parent_pid ? 0 : fork_process(tasks, event);
    if (err != 0)
        return err;
    uint32_t process = tasks_process(tasks, event->pid, event->time_ns);
    uint32_t *slot = process == PROFILE_NONE ? NULL : thread_slot(tasks, event->tid);
    if (!slot || add_thread(tasks, process, event->tid, slot, event->time_ns) == PROFILE_NONE)
        return -ENOMEM;
    return 0;
}

/* The process ends with its last thread; a second record of the same exit changes nothing. */
int tasks_exit(struct tasks *tasks, const struct perfdata_event *event)
{
    uint32_t index = tasks_thread(tasks, event->pid, event->tid, event->time_ns);
    if (index == PROFILE_NONE)
        return -ENOMEM;
    struct profile_thread *thread = &tasks->profile->threads[index];
    if (thread->end_ns)
        return 0;
    thread->end_ns = event->time_ns;
    if (--tasks->processes[thread->process].live_threads == 0)
        tasks->profile->processes[thread->process].end_ns = event->time_ns;
    return 0;
}
