/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_take.h"

#include "record/attach/snapshot/limited_read.h"
#include "record/attach/snapshot/snapshot_reader.h"
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/attach/snapshot/snapshot_rows.h"

#include <string.h>
#include <unistd.h>

/* Threads that start between the count and the list. */
#define SPARE_THREADS 64

struct read_task {
    struct snapshot *snapshot;
    const struct snapshot_request *request;
};

static int run_read(void *context)
{
    const struct read_task *task = context;
    return snapshot_read(task->snapshot, task->request);
}

int snapshot_take(struct snapshot *snapshot, const struct snapshot_request *request,
                  struct error *error)
{
    struct target_facts facts = target_facts_read(request->pid);
    *snapshot = (struct snapshot){.pid = request->pid, .inner_pid = facts.inner_id};
    struct read_task task = {.snapshot = snapshot, .request = request};
    int err = snapshot_refusal_check(&facts, getpid(), request->pid, error);
    if (err)
        return err;
    memcpy(snapshot->name, facts.name, sizeof(snapshot->name));
    err = snapshot_rows_open(snapshot, (size_t)facts.threads + facts.threads / 4 + SPARE_THREADS);
    if (err == 0)
        err = limited_read_run(snapshot, run_read, &task, request->limit_ns);
    if (err == 0)
        return 0;
    struct own_rights own = own_rights_read();
    return snapshot_refusal_explain(&facts, &own, request->pid, err, error);
}
