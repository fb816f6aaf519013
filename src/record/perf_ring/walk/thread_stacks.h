/* SPDX-License-Identifier: MIT */
/*
 * The own stacks of threads other than the main one. The C library keeps the descriptor of a thread
 * at the upper end of the thread's stack, also of a stack given by the program, and the descriptor
 * has the list of robust mutexes, an address that the kernel knows (struct pthread in
 * nptl/descr.h, glibc 2.36):
 *
 *     mapping: │ guard │ own stack ◀── SP ────┤ descriptor, list │
 *
 * SP elsewhere is on a stack made by the program, of a fiber. Unknown, and never elsewhere: threads
 * without a list (Go, musl), and of processes without the right to trace.
 */
#pragma once

#include "base/containers/two_way_cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeros: empty; freed by two_way_cache_free(). */
struct thread_stacks {
    struct two_way_cache known;
};

/* Reads where the own stack is; once for each thread. True: for the first time. */
bool thread_stacks_read(struct thread_stacks *stacks, pid_t pid, pid_t tid);
bool thread_stacks_is_known(const struct thread_stacks *stacks, pid_t pid, pid_t tid);
/* Whether SP is known to be elsewhere. */
bool thread_stacks_is_elsewhere(const struct thread_stacks *stacks, pid_t pid, pid_t tid,
                                uint64_t sp);
