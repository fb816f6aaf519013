/* SPDX-License-Identifier: MIT */
/* Descriptors of processes: pids are given again once a parent has waited. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* -1: no such process, or no descriptor left. */
int pid_fd_open(pid_t pid);
/* Whether the pid may belong to another process by now. An ended process keeps its pid until its
 * parent has waited. False for -1. */
bool pid_fd_is_reaped(int pid_fd);

/* A descriptor, or -1, for each. Of a thread other than the first one since Linux 6.9. NULL: out of
 * memory. */
int *pid_fds_open(const pid_t *pids, size_t count);
void pid_fds_close(int *pid_fds, size_t count);
