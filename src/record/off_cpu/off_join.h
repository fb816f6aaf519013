/* SPDX-License-Identifier: MIT */
/*
 * The end of a thread, perhaps hanging in the kernel. On a busy machine, a thread without a hang
 * may need long for its end: it is runnable, or uses CPU time.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Joins the thread. False: it has done nothing for the time limit, and is not joined. */
bool off_join(pthread_t thread, pid_t tid, uint64_t limit_ns);
