/* SPDX-License-Identifier: MIT */
/* Opens the events of a recording from outside: on running processes and threads, on processes that
 * wait before their exec, and on the system. */
#pragma once

#include "record/perf_ring/ring_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process to record. pid_fd: opened before the process was chosen, so no later process with the
 * same pid is recorded; -1, without a descriptor: refused. */
struct attached {
    pid_t pid;
    int pid_fd;
};

/* Records all threads of a running process, or only `tids`. 0, or a negative errno: the kernel's
 * for the first refused thread, -EMFILE when descriptors run out. -ESRCH: no thread is left, or
 * another process may have the pid. */
int ring_attach(struct ring_source *source, struct attached target, const pid_t *tids,
                size_t tid_count);

/* Records all tasks (REACH_SYSTEM), or the tasks of a cgroup; cgroup_fd -1: none. 0 or the kernel's
 * negative errno. */
int ring_attach_system(struct ring_source *source, int cgroup_fd);

/* Records a process that waits before its exec, from the exec on; is_in_file: as for
 * ring_tasks_attach(). 0, or the kernel's negative errno: then nothing is recorded of the
 * process. */
int ring_attach_awaiting(struct ring_source *source, struct attached target, bool is_in_file);
/* The exec failed, or did not come. */
void ring_attach_forget(struct ring_source *source, pid_t pid);

/* As ring_attach(), for all threads of a process of the recording; is_in_file: as for
 * ring_tasks_attach(). An error leaves no trace of the process. */
int ring_attach_adopted(struct ring_source *source, struct attached target, bool is_in_file);

/* The same for a sampled process on stacks made by the program: with the largest copies of the
 * stack. Threads known to the sampled process stay the same threads in the file. *cpu_ns: the CPU
 * time of the process at the start. */
int ring_attach_taken_over(struct ring_source *source, const struct process *sampled,
                           uint64_t *cpu_ns);

/*
 * Events are opened on running threads in passes over /proc/PID/task, until a pass finds no new
 * thread. A process may create threads faster than events can be opened: passes are limited. The
 * rings must not fill while the events of many threads are opened.
 */
enum { RING_ATTACH_PASSES_MAX = 100, RING_ATTACH_UNTIL_DRAIN = 32 };
/* Between two passes: takes the FORK records of the threads that the last pass has seen. */
void ring_attach_await_forks(struct ring_source *source);
