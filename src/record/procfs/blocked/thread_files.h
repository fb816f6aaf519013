/* SPDX-License-Identifier: MIT */
/* The files of a thread in /proc for looks at its stack. Descriptors of an ended thread fail with
 * -ESRCH, also when the tid is in use again; a path would lead to the new thread. */
#pragma once

#include "record/procfs/blocked/blocked_call.h"

#include <stddef.h>
#include <sys/types.h>

struct thread_files {
    int account_fd, call_fd; /* -1: closed */
    int stack_fd;            /* of the stack in the kernel; -1: not read */
};

/* 0 or a negative errno; -EACCES: no right to trace the process. Without the stack in the kernel.
 */
int thread_files_open(struct thread_files *files, pid_t pid, pid_t tid);
/* The same by the latest process' directory of threads, which saves half of the time. For looks one
 * after the other: a directory of an ended process has no threads. */
struct task_directory {
    pid_t pid; /* 0: closed */
    int fd;
};
int thread_files_open_in(struct thread_files *files, struct task_directory *tasks, pid_t pid,
                         pid_t tid);
/* Opens the stack in the kernel, too; without effect where there is none. */
void thread_files_open_stack(struct thread_files *files, const struct task_directory *tasks,
                             pid_t tid);
void task_directory_close(struct task_directory *tasks);
void thread_files_close(struct thread_files *files);

/* schedstat alone: needs no right to trace the process. */
int thread_account_read(pid_t pid, pid_t tid, struct run_account *account);

int thread_files_account(const struct thread_files *files, struct run_account *account);
int thread_files_call(const struct thread_files *files, struct blocked_call *call);
/* The text of the stack in the kernel; empty: none, or not permitted. */
void thread_files_kernel_stack(const struct thread_files *files, char *text, size_t size);
