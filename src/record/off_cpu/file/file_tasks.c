/* SPDX-License-Identifier: MIT */
/*
 * Starts of one task id in the file. The kernel and the engine date a start differently, so an
 * entry with the kernel's time belongs to the first start that is not older:
 *
 *     FORK          COMM of an exec   EXIT    FORK, the id is used again
 *     starts[0]     [1], with the end         [2], life_ns                 ─▶ time
 *
 * Samples of an ended task may follow the start of the next task with its id: the off-CPU thread
 * reads the end at the next tick. The sampler dates the start of a thread before clone(). After a
 * preemption in between, this start is older than the kernel's by more than the slack; the start of
 * the next task is further away.
 */
#include "record/off_cpu/file/file_tasks.h"

#include <stdlib.h>
#include <string.h>

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

/* NULL: not in the file. */
static struct file_start *latest_of(struct file_task *task)
{
    return task->start_count ? &task->starts[task->start_count - 1] : NULL;
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
        const struct file_start *latest = latest_of(task);
        uint64_t end_ns = latest ? latest->end_ns : 0;
        if (end_ns == 0 || end_ns + AFTER_END_NS > tasks->newest_ns) {
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

/* Whether the task that started then, by the kernel, has ended, and had this start: next_ns is the
 * one after, or UINT64_MAX. */
static bool is_of_ended(const struct file_start *start, uint64_t since_ns, uint64_t time_ns,
                        uint64_t next_ns)
{
    bool is_inside = start->time_ns <= since_ns && time_ns <= start->end_ns;
    return is_inside && since_ns - start->time_ns < next_ns - since_ns;
}

uint64_t file_task_start_ns(const struct file_task *task, uint64_t since_ns, uint64_t time_ns)
{
    uint32_t i = 0;
    while (i < task->start_count && task->starts[i].time_ns + START_SLACK_NS < since_ns)
        i++;
    uint64_t found_ns = i < task->start_count ? task->starts[i].time_ns : UINT64_MAX;
    bool is_later = found_ns > time_ns;
    if (is_later && i > 0 && is_of_ended(&task->starts[i - 1], since_ns, time_ns, found_ns))
        return task->starts[i - 1].time_ns;
    return found_ns == UINT64_MAX ? 0 : found_ns;
}

uint64_t file_task_current_ns(const struct file_task *task, uint64_t time_ns)
{
    for (uint32_t i = task->start_count; i-- > 1;)
        if (task->starts[i].time_ns <= time_ns)
            return task->starts[i].time_ns;
    return task->starts[0].time_ns;
}

/* Place for another start: the oldest one is dropped. */
static struct file_start *add_start(struct file_task *task)
{
    if (task->start_count == FILE_STARTS_MAX) {
        task->start_count--;
        memmove(task->starts, task->starts + 1, task->start_count * sizeof(task->starts[0]));
    }
    return &task->starts[task->start_count++];
}

void file_tasks_note_start(void *context, uint32_t tid, bool is_fork, uint64_t time_ns)
{
    struct file_tasks *tasks = context;
    struct file_task *task = file_task_get(tasks, tid);
    if (!task)
        return;
    struct file_start *latest = latest_of(task);
    bool is_new = is_fork || !latest || latest->end_ns;
    /* a FORK, and the COMM of the same start */
    bool is_same = !is_new && time_ns - latest->time_ns <= 1;
    if (is_new || (is_same && latest->time_ns == task->life_ns))
        task->life_ns = time_ns;
    *(is_same ? latest : add_start(task)) = (struct file_start){.time_ns = time_ns};
    if (time_ns > tasks->newest_ns)
        tasks->newest_ns = time_ns;
}

void file_tasks_note_end(void *context, uint32_t tid, uint64_t time_ns)
{
    struct file_task *task = file_task_find(context, tid);
    uint32_t i = task ? task->start_count : 0;
    while (i > 1 && task->starts[i - 1].time_ns > time_ns) /* found after the next start */
        i--;
    if (i > 0)
        task->starts[i - 1].end_ns = time_ns;
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
