/* SPDX-License-Identifier: MIT */
/* Reads facts about processes and threads from /proc. Parsers take bytes, so tests need no live
 * process. */
#pragma once

#include "base/files/rights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name of the thread; with tid 0, of the process. */
int proc_name(pid_t pid, pid_t tid, char name[16]);

struct proc_status {
    pid_t tracer; /* 0: none */
    uint32_t threads;
    uint32_t filters; /* of system calls (seccomp); 0 also on kernels without the field */
};
/* All 0 if unreadable. */
struct proc_status proc_status_read(pid_t pid);

/* The rights of a process to files: file system ids and groups. 0 or -ESRCH. */
int proc_rights_read(struct rights *rights, pid_t pid);
/* The rights to borrow for reading the files of a process. User "nobody" if the process has ended;
 * the launcher's own (all 0) for pid 0, and without privilege to change ids. */
struct rights proc_rights_of(pid_t pid);
/* The same without groups, in a tenth of the time: the effective user owns /proc/PID, also of
 * undumpable processes (fs/proc/base.c, task_dump_owner()). */
struct rights proc_rights_of_owner(pid_t pid);

/* Replaces root's rights by the present owner's, as above: daemons drop them. No change if the
 * process has ended. */
void proc_rights_lower(struct rights *rights, pid_t pid);

/* Inode of the pid namespace; 0: unknown. */
uint32_t proc_namespace(pid_t pid);

/* The target of /proc/PID/exe. */
int proc_executable(pid_t pid, char *path, size_t size);

struct proc_stat {
    char state; /* 'R', 'S', 'Z' … */
    pid_t parent;
    bool is_of_kernel;   /* a thread of the kernel */
    bool is_of_io_uring; /* an io_uring worker: never runs in user mode */
    /* In ticks of 10 ms, like children_cpu_ns. */
    uint64_t user_ns, kernel_ns;
    /* Of waited-for children and their waited-for children. */
    uint64_t children_cpu_ns;
    uint64_t start_ns;         /* since boot, suspended time included; in ticks, rounded down */
    uint64_t stack_start_avma; /* of the main thread; 0: no right to read the address */
};
int proc_stat_parse(struct proc_stat *stat, const char *text);
/* Of the process; with a tid, of this thread alone. */
int proc_stat_read(struct proc_stat *stat, pid_t pid, pid_t tid);

/* Whether the process existed at this time of CLOCK_MONOTONIC: else the pid was given again. The
 * kernel gives all other ids first, so no two processes have an id within a tick. False for a pid
 * that is free. */
bool proc_existed_at(pid_t pid, uint64_t time_ns);

/* At most `room` children of all threads of the process; none on a kernel without the list. Returns
 * their number. */
size_t proc_children(pid_t pid, pid_t *pids, size_t room);

/* All numeric entries of a /proc directory, to be freed; NULL: cannot be read. */
pid_t *proc_list(const char *path, size_t *count);

/* Of the first `most` threads, without threads that get no signals: their number, and the number
 * of threads with the signal blocked; and whether the process has no handler for the signal. */
struct proc_threads {
    size_t count, blocking;
    bool is_unhandled;
};
struct proc_threads proc_look_at_threads(pid_t pid, int number, size_t most);

/* Whether the thread blocks or ignores the signal. */
bool proc_thread_blocks(pid_t pid, pid_t tid, int number);

/* Whether the thread belongs to the process. */
bool proc_has_thread(pid_t pid, pid_t tid);

/* Number of POSIX timers of the process; SIZE_MAX if unknown. */
size_t proc_count_timers(pid_t pid);

/* CPU time of one thread; 0 if the thread has ended. */
uint64_t proc_thread_cpu_ns(pid_t pid, pid_t tid);

/* Runnable threads of the system, those on a processor included; 0: unknown. */
uint32_t proc_runnable_parse(const char *text);
uint32_t proc_runnable(void);

/* CPU time of all processors since boot, without idle and stolen time; in ticks. 0: unknown. */
uint64_t proc_busy_parse_ns(const char *text);
uint64_t proc_busy_ns(void);

/* CPU time of all threads, ended threads included, also of a zombie. 0 if the process is gone. */
uint64_t proc_cpu_ns(pid_t pid);
