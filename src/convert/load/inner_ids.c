/* SPDX-License-Identifier: MIT */
/*
 * An id may be of several tasks, one after the other. The summary has the time of each reading: the
 * id was of the last task that had started by then.
 */
#include "convert/load/inner_ids.h"

#include "base/containers/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int inner_ids_add(struct inner_ids *ids, const char *text)
{
    struct inner_id read;
    if (sscanf(text, "%" SCNd32 " %" SCNd32 " %" SCNu64, &read.id, &read.inner, &read.from_ns) != 3)
        return 0;
    struct inner_id *item = ARRAY_PUSH(ids->items, ids->count, ids->capacity);
    if (!item)
        return -ENOMEM;
    *item = read;
    return 0;
}

void inner_ids_free(struct inner_ids *ids)
{
    free(ids->items);
    *ids = (struct inner_ids){0};
}

/* A process or thread of the profile. */
struct task {
    int32_t id;
    uint64_t start_ns;
    int32_t *inner; /* place in the profile */
};

static int by_id_and_start(const void *left, const void *right)
{
    const struct task *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The first task of the id may be in the file later than the id was read. */
static void set_inner(const struct task *tasks, size_t count, const struct inner_id *id)
{
    size_t low = 0, high = count; /* tasks[low]: the first one after all that qualify */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct task *task = &tasks[middle];
        bool is_before = task->id < id->id || (task->id == id->id && task->start_ns <= id->from_ns);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    if (low > 0 && tasks[low - 1].id == id->id)
        *tasks[low - 1].inner = id->inner;
    else if (low < count && tasks[low].id == id->id)
        *tasks[low].inner = id->inner;
}

static int apply(const struct inner_ids *ids, struct task *tasks, size_t count)
{
    if (!tasks)
        return -ENOMEM;
    qsort(tasks, count, sizeof(*tasks), by_id_and_start);
    for (size_t i = 0; i < ids->count; i++)
        set_inner(tasks, count, &ids->items[i]);
    free(tasks);
    return 0;
}

static int apply_to_processes(const struct inner_ids *ids, struct profile *profile)
{
    struct task *tasks = calloc(profile->process_count + 1, sizeof(*tasks));
    for (size_t i = 0; tasks && i < profile->process_count; i++) {
        struct profile_process *process = &profile->processes[i];
        tasks[i] = (struct task){process->pid, process->start_ns, &process->namespace_pid};
    }
    return apply(ids, tasks, profile->process_count);
}

static int apply_to_threads(const struct inner_ids *ids, struct profile *profile)
{
    struct task *tasks = calloc(profile->thread_count + 1, sizeof(*tasks));
    for (size_t i = 0; tasks && i < profile->thread_count; i++) {
        struct profile_thread *thread = &profile->threads[i];
        tasks[i] = (struct task){thread->tid, thread->start_ns, &thread->namespace_tid};
    }
    return apply(ids, tasks, profile->thread_count);
}

int inner_ids_apply(const struct inner_ids *ids, struct profile *profile)
{
    if (ids->count == 0)
        return 0;
    int err = apply_to_processes(ids, profile);
    return err ? err : apply_to_threads(ids, profile);
}
