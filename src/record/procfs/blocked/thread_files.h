/* SPDX-License-Identifier: MIT */
/* The files of a thread in /proc for looks at its stack. Descriptors of an ended thread fail with
 * -ESRCH, also when the tid is in use again; a path would lead to the new thread. */
#pragma once

#include "record/procfs/blocked/blocked_call.h"

#include <sys/types.h>

struct thread_files {
    int account_fd, call_fd; /* -1: closed */
};

/* 0 or a negative errno; -EACCES: no right to trace the process. */
int thread_files_open(struct thread_files *files, pid_t pid, pid_t tid);
void thread_files_close(struct thread_files *files);

/* schedstat alone: needs no right to trace the process. */
int thread_account_read(pid_t pid, pid_t tid, struct run_account *account);

int thread_files_account(const struct thread_files *files, struct run_account *account);
int thread_files_call(const struct thread_files *files, struct blocked_call *call);
