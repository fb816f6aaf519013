/* SPDX-License-Identifier: MIT */
/* Threads frozen by a cgroup: without a state or a system call of their own in /proc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* By the kernel function of the wait, readable by all. False: unknown, too. */
bool frozen_thread_check(pid_t pid, pid_t tid);
