/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_attach.h"

#include "base/clock.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A process that creates threads faster than events can be opened. */
enum { PASSES_MAX = 100 };

static bool is_among(pid_t tid, const pid_t *tids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tids[i] == tid)
            return true;
    return count == 0;
}

static int enter(struct off_rings *rings, struct off_tasks *tasks, struct off_waits *waits,
                 pid_t pid, pid_t tid)
{
    int err = off_rings_attach(rings, tid);
    if (err)
        return err;
    struct off_thread *thread = off_thread_add(tasks, pid, tid, RUN_UNSEEN, monotonic_ns());
    if (thread)
        off_waits_begin(waits, thread);
    return thread ? 0 : -ENOMEM;
}

int off_attach(struct off_rings *rings, struct off_tasks *tasks, struct off_waits *waits, pid_t pid,
               const pid_t *tids, size_t tid_count)
{
    char path[64];
    int err = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    size_t before = tasks->count, last = SIZE_MAX;
    for (int pass = 0; pass < PASSES_MAX && err == 0 && last != tasks->count; pass++) {
        size_t count = 0;
        pid_t *list = proc_list(path, &count);
        last = tasks->count;
        for (size_t i = 0; list && i < count && err == 0; i++)
            if (is_among(list[i], tids, tid_count) && !off_thread_find(tasks, list[i])) {
                err = enter(rings, tasks, waits, pid, list[i]);
                err = err == -ESRCH ? 0 : err; /* ended meanwhile */
            }
        free(list);
    }
    return err ? err : tasks->count > before ? 0 : -ESRCH;
}
