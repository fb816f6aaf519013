/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_take.h"

#include "base/time_limited.h"
#include "record/attach/snapshot/snapshot_reader.h"
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/attach/snapshot/snapshot_rows.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Threads that start between the count and the list. */
#define SPARE_THREADS 64

/* The reading process cannot write to this process's memory, except for the rows and a head. */
struct shared_head {
    size_t count, torn;
};

struct read_task {
    struct snapshot *snapshot;
    const struct snapshot_request *request;
    struct shared_head *head;
};

static int run_read(void *context)
{
    struct read_task *task = context;
    int err = snapshot_read(task->snapshot, task->request);
    *task->head = (struct shared_head){task->snapshot->count, task->snapshot->torn};
    return err;
}

static int read_limited(struct snapshot *snapshot, const struct snapshot_request *request)
{
    struct read_task task = {.snapshot = snapshot, .request = request};
    void *memory =
        mmap(NULL, sizeof(*task.head), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    task.head = memory;
    int err = time_limited_run(run_read, &task, request->limit_ns);
    snapshot->count = task.head->count;
    snapshot->torn = task.head->torn;
    munmap(memory, sizeof(*task.head));
    return err;
}

int snapshot_take(struct snapshot *snapshot, const struct snapshot_request *request,
                  struct error *error)
{
    struct target_facts facts = target_facts_read(request->pid);
    struct reader_facts reader = reader_facts_read();
    *snapshot = (struct snapshot){.pid = request->pid};
    int err = snapshot_refusal_check(&facts, &reader, request->pid, error);
    if (err)
        return err;
    memcpy(snapshot->name, facts.name, sizeof(snapshot->name));
    err = snapshot_rows_open(snapshot, (size_t)facts.threads + facts.threads / 4 + SPARE_THREADS);
    if (err == 0)
        err = read_limited(snapshot, request);
    return err ? snapshot_refusal_explain(&facts, &reader, request->pid, err, error) : 0;
}
