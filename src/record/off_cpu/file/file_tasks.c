/* SPDX-License-Identifier: MIT */
/*
 * Starts of one task id in the file. The kernel and the engine date a start differently, so an
 * entry with the kernel's time belongs to the first start that is not older:
 *
 *     FORK          COMM of an exec      COMM of an exec
 *     first_ns      before_ns            start_ns               ─▶ time
 *
 * Of more starts, the first and the latest two are kept.
 */
#include "record/off_cpu/file/file_tasks.h"

#include <stdlib.h>

/* Samples of an ended thread arrive within this time. */
#define AFTER_END_NS UINT64_C(10000000000)
#define PURGE_COUNT_MIN 1024
/* The kernel and the sampler date the same start differently. */
#define START_SLACK_NS 1000000

struct file_task *file_task_find(const struct file_tasks *tasks, uint32_t tid)
{
    struct file_task *task = tasks->buckets[tid % FILE_TASK_BUCKETS];
    while (task && task->tid != tid)
        task = task->next_in_bucket;
    return task;
}

static void free_task(struct file_task *task)
{
    buffer_free(&task->mappings);
    free(task);
}

static void purge_bucket(struct file_tasks *tasks, struct file_task **place)
{
    while (*place) {
        struct file_task *task = *place;
        if (task->end_ns == 0 || task->end_ns + AFTER_END_NS > tasks->newest_ns) {
            place = &task->next_in_bucket;
            continue;
        }
        *place = task->next_in_bucket;
        free_task(task);
        tasks->count--;
    }
}

/* Doubling: the walk over all tasks costs a constant time for each new one. */
static void purge(struct file_tasks *tasks)
{
    for (size_t i = 0; i < FILE_TASK_BUCKETS; i++)
        purge_bucket(tasks, &tasks->buckets[i]);
    tasks->purge_count = 2 * tasks->count + PURGE_COUNT_MIN;
}

struct file_task *file_task_get(struct file_tasks *tasks, uint32_t tid)
{
    struct file_task *task = file_task_find(tasks, tid);
    if (task)
        return task;
    if (tasks->count >= tasks->purge_count)
        purge(tasks);
    task = calloc(1, sizeof(*task));
    if (!task)
        return NULL;
    struct file_task **bucket = &tasks->buckets[tid % FILE_TASK_BUCKETS];
    task->tid = tid;
    task->next_in_bucket = *bucket;
    tasks->count++;
    return *bucket = task;
}

uint64_t file_task_start_ns(const struct file_task *task, uint64_t since_ns)
{
    const uint64_t starts_ns[] = {task->first_ns, task->before_ns, task->start_ns};
    for (size_t i = 0; i < sizeof(starts_ns) / sizeof(starts_ns[0]); i++)
        if (starts_ns[i] && starts_ns[i] + START_SLACK_NS >= since_ns)
            return starts_ns[i];
    return 0;
}

uint64_t file_task_current_ns(const struct file_task *task, uint64_t time_ns)
{
    if (task->start_ns <= time_ns)
        return task->start_ns;
    return task->before_ns && task->before_ns <= time_ns ? task->before_ns : task->first_ns;
}

/* A FORK, and the COMM of the same start. */
static bool is_one_start(const struct file_task *task, bool is_fork, uint64_t time_ns)
{
    return !is_fork && task->start_ns && time_ns - task->start_ns <= 1;
}

void file_tasks_note_start(void *context, uint32_t tid, bool is_fork, uint64_t time_ns)
{
    struct file_tasks *tasks = context;
    struct file_task *task = file_task_get(tasks, tid);
    if (!task)
        return;
    bool is_new = is_fork || task->first_ns == 0 || task->end_ns;
    if (is_new)
        task->first_ns = time_ns;
    else if (is_one_start(task, is_fork, time_ns) && task->first_ns == task->start_ns)
        task->first_ns = time_ns;
    else if (!is_one_start(task, is_fork, time_ns))
        task->before_ns = task->start_ns;
    if (is_new)
        task->before_ns = 0;
    task->start_ns = time_ns;
    task->end_ns = 0;
    if (time_ns > tasks->newest_ns)
        tasks->newest_ns = time_ns;
}

void file_tasks_note_end(void *context, uint32_t tid, uint64_t time_ns)
{
    struct file_task *task = file_task_find(context, tid);
    if (task)
        task->end_ns = time_ns;
}

void file_tasks_free(struct file_tasks *tasks)
{
    for (size_t i = 0; i < FILE_TASK_BUCKETS; i++) {
        while (tasks->buckets[i]) {
            struct file_task *task = tasks->buckets[i];
            tasks->buckets[i] = task->next_in_bucket;
            free_task(task);
        }
    }
    *tasks = (struct file_tasks){0};
}
