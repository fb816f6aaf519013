/* SPDX-License-Identifier: MIT */
/*
 * Pages of a stack without memory: the parts of large frames that the program has never written.
 * The kernel copies a stack with page faults switched off, so a copy ends at the first such page
 * (perf_output_sample_ustack(), kernel/events/core.c, Linux 6.18):
 *
 *     SP ├── written ──┤ absent ┤── callers ──▶
 *        └─── copied ──┘
 *
 * A read from outside gives a page the kernel's zero page, as a read by the program would; the next
 * copies include the callers. Nothing is written, and the program reads the same zeros.
 *
 * A read can hang: behind the page may be a file system of the program's own. So a thread reads,
 * and recording goes on.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { STACK_PAGES_KNOWN = 64 };

/* Zeros: closed. */
struct stack_pages {
    bool is_open, has_failed;
    int fd; /* to the thread */
    pthread_t thread;
    struct stack_page {
        pid_t pid;
        uint64_t avma, requested_ns;
    } known[STACK_PAGES_KNOWN];
};

/* A copy of this process' stack ended here, at this CLOCK_MONOTONIC. True: the page may be absent,
 * and will be read. False: the page was read before, so the stack ends here. */
bool stack_pages_request(struct stack_pages *pages, pid_t pid, uint64_t avma, uint64_t time_ns);

/* Waits for the thread, for a second at most. */
void stack_pages_close(struct stack_pages *pages);
