/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_attach.h"

#include "base/clock.h"
#include "record/perf_ring/tid_set.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A process that creates threads faster than events can be opened. */
enum { PASSES_MAX = 100 };
/* For the FORK record of a thread that appears in /proc. */
enum { FORK_WAITS = 20 };
#define FORK_RECORD_WAIT_NS 1000000

/* FORK records show the threads that have inherited the events. */
static void take_records(struct off_rings *rings, struct off_records *records)
{
    const struct timespec wait = {.tv_nsec = FORK_RECORD_WAIT_NS};
    struct ring_record record;
    nanosleep(&wait, NULL);
    uint64_t until_ns = off_rings_look(rings);
    while (off_rings_next(rings, until_ns, &record))
        if (record.time_ns)
            off_records_take(records, &record);
}

static int enter(struct off_rings *rings, struct off_records *records, pid_t pid, pid_t tid)
{
    int err = off_rings_attach(rings, tid);
    if (err)
        return err;
    struct off_thread *thread =
        off_thread_add(records->tasks, pid, tid, RUN_UNSEEN, monotonic_ns());
    if (thread)
        off_waits_begin(records->waits, thread);
    return thread ? 0 : -ENOMEM;
}

struct off_targets {
    pid_t pid;
    const pid_t *tids;
    size_t tid_count;
    size_t entered; /* so far */
};

static bool is_new(const struct off_records *records, const struct off_targets *targets, pid_t tid)
{
    return tid_list_includes(targets->tids, targets->tid_count, tid) &&
           !off_thread_find(records->tasks, tid);
}

static bool has_new(const struct off_records *records, const struct off_targets *targets,
                    const pid_t *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        if (is_new(records, targets, list[i]))
            return true;
    return false;
}

/* A pass over the threads. Records are taken after the list is read: a thread with inherited events
 * would get a second set of events, and two records of each switch. The kernel writes the FORK
 * record after the thread appears in /proc, later still if the creator loses its processor. */
static int enter_new(struct off_rings *rings, struct off_records *records,
                     struct off_targets *targets)
{
    char path[64];
    size_t count = 0;
    int err = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)targets->pid);
    pid_t *list = proc_list(path, &count);
    for (int i = 0; targets->entered && i < FORK_WAITS && has_new(records, targets, list, count);
         i++)
        take_records(rings, records);
    for (size_t i = 0; list && i < count && err == 0; i++) {
        if (!is_new(records, targets, list[i]))
            continue;
        err = enter(rings, records, targets->pid, list[i]);
        targets->entered += err == 0;
        err = err == -ESRCH ? 0 : err; /* ended meanwhile */
    }
    free(list);
    return err;
}

/* Until a pass finds no new thread. */
int off_attach(struct off_rings *rings, struct off_records *records, pid_t pid, const pid_t *tids,
               size_t tid_count)
{
    struct off_targets targets = {.pid = pid, .tids = tids, .tid_count = tid_count};
    size_t last = SIZE_MAX;
    int err = 0;
    for (int pass = 0; pass < PASSES_MAX && err == 0 && last != targets.entered; pass++) {
        last = targets.entered;
        err = enter_new(rings, records, &targets);
    }
    return err ? err : targets.entered ? 0 : -ESRCH;
}

/* A line of /proc/PID/cgroup, as in cgroups(7): "ID:CONTROLLERS:/PATH", of the hierarchy that perf
 * events belong to: version 1 with the controller perf_event, or version 2, without controllers. */
static bool is_line_of_cgroup(const char *line, const char *cgroup)
{
    const char *controllers = strchr(line, ':');
    const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    size_t length = strlen(cgroup);
    if (!path || path[1] != '/' || strncmp(path + 2, cgroup, length) != 0)
        return false;
    const char *perf = strstr(controllers, "perf_event");
    bool is_of_perf = path == controllers + 1 || (perf && perf < path);
    return is_of_perf && strchr("/\n", path[2 + length]);
}

static bool is_in_cgroup(pid_t pid, const char *cgroup)
{
    char path[64], *line = NULL;
    size_t capacity = 0;
    bool is_inside = false;
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && !is_inside && getline(&line, &capacity, file) > 0)
        is_inside = is_line_of_cgroup(line, cgroup);
    if (file)
        fclose(file);
    free(line);
    return is_inside;
}

static void enter_threads(struct off_records *records, pid_t pid)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count; i++) {
        struct off_thread *thread =
            off_thread_add(records->tasks, pid, tids[i], RUN_UNSEEN, monotonic_ns());
        if (thread)
            thread->is_left_out = records->is_listed;
        if (thread)
            off_waits_begin(records->waits, thread);
    }
    free(tids);
}

void off_attach_system(struct off_records *records, const char *cgroup)
{
    size_t count = 0;
    pid_t *pids = proc_list("/proc", &count);
    for (size_t i = 0; pids && i < count; i++) {
        struct proc_stat stat;
        bool is_of_user =
            pids[i] != getpid() && proc_stat_read(&stat, pids[i], 0) == 0 && !stat.is_of_kernel;
        if (is_of_user && (!cgroup || is_in_cgroup(pids[i], cgroup)))
            enter_threads(records, pids[i]);
    }
    free(pids);
}
