/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_rows.h"

#include "record/attach/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int snapshot_rows_open(struct snapshot *snapshot, size_t threads)
{
    snapshot->capacity = threads;
    void *memory = mmap(NULL, snapshot->capacity * sizeof(*snapshot->threads),
                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    snapshot->threads = memory;
    return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (snapshot->threads)
        munmap(snapshot->threads, snapshot->capacity * sizeof(*snapshot->threads));
    *snapshot = (struct snapshot){.pid = 0};
}

void snapshot_row_set_failure(struct snapshot_thread *thread, int err)
{
    if (err == -ESRCH || err == -ENOENT)
        snprintf(thread->problem, sizeof(thread->problem), "ended meanwhile");
    else if (err == -EACCES || err == -EPERM)
        snprintf(thread->problem, sizeof(thread->problem), "cannot be read: %s",
                 refusal_of_rec(ACCESS_MEMORY, err).text);
    else
        snprintf(thread->problem, sizeof(thread->problem), "cannot be read: %s", strerror(-err));
}

static const char *problem_of_end(enum offline_end end)
{
    switch (end) {
    case OFFLINE_CUT:
        return "the stack leads out of its memory";
    case OFFLINE_TOO_DEEP:
        return "more frames than rec keeps";
    case OFFLINE_UNMAPPED:
        return "a return address outside of all mappings";
    case OFFLINE_SIGNAL:
        return "a signal handler on an alternate stack";
    case OFFLINE_GUESS:
        return "code without unwind information, and only a guess at the caller";
    case OFFLINE_NO_FP:
        return "JIT code without frame pointers, so calls are missing (java: "
               "-XX:+PreserveFramePointer)";
    default:
        return "code without unwind information";
    }
}

void snapshot_row_set_end(struct snapshot_thread *thread, const struct look_end *end)
{
    thread->has_stack = end->frame_count > 0;
    thread->is_complete = thread->has_stack && end->is_complete;
    if (!thread->is_complete)
        snprintf(thread->problem, sizeof(thread->problem), "%s", problem_of_end(end->why));
}
