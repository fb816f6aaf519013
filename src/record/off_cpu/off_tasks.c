/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_tasks.h"

#include "base/containers/array.h"

#include <stdlib.h>
#include <unistd.h>

static size_t bucket_of(pid_t id)
{
    return (uint32_t)id % OFF_BUCKETS;
}

struct off_thread *off_thread_find(const struct off_tasks *tasks, pid_t tid)
{
    struct off_thread *thread = tasks->buckets[bucket_of(tid)];
    while (thread && thread->tid != tid)
        thread = thread->next_in_bucket;
    return thread;
}

struct off_process *off_process_find(const struct off_tasks *tasks, pid_t pid)
{
    struct off_process *process = tasks->processes[bucket_of(pid)];
    while (process && process->pid != pid)
        process = process->next_in_bucket;
    return process;
}

static struct off_process *process_of(struct off_tasks *tasks, pid_t pid)
{
    struct off_process **bucket = &tasks->processes[bucket_of(pid)];
    struct off_process *process = off_process_find(tasks, pid);
    if (process)
        return process;
    process = calloc(1, sizeof(*process));
    if (!process)
        return NULL;
    process->pid = pid;
    process->generation = ++tasks->generation;
    process->next_in_bucket = *bucket;
    return *bucket = process;
}

struct off_thread *off_thread_add(struct off_tasks *tasks, pid_t pid, pid_t tid,
                                  enum run_state state, uint64_t start_ns)
{
    struct off_thread *thread = calloc(1, sizeof(*thread));
    struct off_process *process = thread ? process_of(tasks, pid) : NULL;
    struct off_thread **place =
        process ? ARRAY_PUSH(tasks->threads, tasks->count, tasks->capacity) : NULL;
    if (!place) {
        free(thread);
        return NULL;
    }
    struct off_thread **bucket = &tasks->buckets[bucket_of(tid)];
    *thread = (struct off_thread){.next_in_bucket = *bucket,
                                  .tid = tid,
                                  .process = process,
                                  .run = thread_run_begin(state, start_ns),
                                  .place = tasks->count - 1};
    process->threads++;
    *place = *bucket = thread;
    return thread;
}

/* A new program: caches of walks are by generation, and the file needs all mappings again. */
void off_process_drop_map(struct off_tasks *tasks, struct off_process *process)
{
    process_map_release(process->map);
    process->map = NULL;
    process->is_map_old = false;
    process->generation = ++tasks->generation;
    process->written_count = 0;
}

static void remove_process(struct off_tasks *tasks, struct off_process *process)
{
    struct off_process **place = &tasks->processes[bucket_of(process->pid)];
    while (*place != process)
        place = &(*place)->next_in_bucket;
    *place = process->next_in_bucket;
    process_map_release(process->map);
    if (process->pid_fd > 0) {
        close(process->pid_fd);
        tasks->watched--;
    }
    memory_probe_free(process->hanging);
    free(process->written);
    free(process);
}

void off_thread_free(struct off_thread *thread)
{
    look_stack_release(thread->look.stack);
    short_waits_free(&thread->shorts);
    short_waits_free(&thread->runnable);
    free(thread);
}

/* A thread in the list of threads to look at is freed by the reader of this list. */
void off_thread_remove(struct off_tasks *tasks, struct off_thread *thread)
{
    struct off_thread **place = &tasks->buckets[bucket_of(thread->tid)];
    while (*place != thread)
        place = &(*place)->next_in_bucket;
    *place = thread->next_in_bucket;
    tasks->threads[thread->place] = tasks->threads[--tasks->count];
    tasks->threads[thread->place]->place = thread->place;
    if (--thread->process->threads == 0)
        remove_process(tasks, thread->process);
    thread->process = NULL;
    thread->has_ended = true;
    if (!thread->is_to_look)
        off_thread_free(thread);
}

void off_tasks_free(struct off_tasks *tasks)
{
    while (tasks->count > 0)
        off_thread_remove(tasks, tasks->threads[tasks->count - 1]);
    free(tasks->threads);
    *tasks = (struct off_tasks){0};
}
