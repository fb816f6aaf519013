/* SPDX-License-Identifier: MIT */
/* Facts about processes and threads from /proc. Parsers take bytes, so tests need no live process. */
#pragma once

#include "base/rights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The thread's (or, with tid 0, the process') name. */
int proc_name(pid_t pid, pid_t tid, char name[16]);

struct proc_status {
    pid_t tracer; /* 0: nobody */
    uint32_t threads;
    uint32_t filters; /* of system calls; 0 also on kernels that do not tell */
};
/* All 0 when it cannot be read. */
struct proc_status proc_status_read(pid_t pid);

/* The rights of a process to files: its file system ids and groups. 0 or -ESRCH. */
int proc_rights_read(struct rights *rights, pid_t pid);
/* Those to borrow for reading the files of a process: nobody's when it has ended, our own (all 0) for pid 0 and where we
 * have none to exchange. */
struct rights proc_rights_of(pid_t pid);
/* The same without groups, in a tenth of the time: the effective user owns /proc/PID, of undumpable processes, too
 * (fs/proc/base.c, task_dump_owner()). */
struct rights proc_rights_of_owner(pid_t pid);

/* Inode of its pid namespace; 0: unknown. */
uint32_t proc_namespace(pid_t pid);

/* As the kernel sees /proc/PID/exe. */
int proc_executable(pid_t pid, char *path, size_t size);

struct proc_stat {
    char state; /* 'R', 'S', 'Z' … */
    pid_t parent;
    bool is_of_io_uring; /* a thread that never leaves the kernel */
    /* In ticks of 10 ms, as the next. */
    uint64_t user_ns, kernel_ns;
    /* Of the children that it waited for, and theirs. */
    uint64_t children_cpu_ns;
};
int proc_stat_parse(struct proc_stat *stat, const char *text);
/* Of the process, or with a tid of that thread alone. */
int proc_stat_read(struct proc_stat *stat, pid_t pid, pid_t tid);

/* At most `room` children of all its threads; none on a kernel that does not tell. Returns how many. */
size_t proc_children(pid_t pid, pid_t *pids, size_t room);

/* All numbers that are names in a directory of /proc, to be freed; NULL: it cannot be read. */
pid_t *proc_list(const char *path, size_t *count);

/* The first `most` threads of a process that can get signals, and how many of them block or ignore one. */
struct proc_threads {
    size_t count, blocking;
};
struct proc_threads proc_look_at_threads(pid_t pid, int number, size_t most);

/* Or ignores. */
bool proc_thread_blocks(pid_t pid, pid_t tid, int number);

/* POSIX timers that it has; more than any when that cannot be read. */
size_t proc_count_timers(pid_t pid);

/* CPU time of one thread; 0 when it is gone. */
uint64_t proc_thread_cpu_ns(pid_t pid, pid_t tid);

/* CPU time of all threads, dead ones included, also of a zombie. 0 when the process is gone. */
uint64_t proc_cpu_ns(pid_t pid);
