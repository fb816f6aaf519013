/* SPDX-License-Identifier: MIT */
/*
 * Ends of processes, which end the wait for work: the kernel keeps the account of an ended process
 * (schedstat) until its parent has seen the end, so the account is read at once. Short processes
 * and single threads end without notice.
 */
#pragma once

#include "record/off_cpu/off_tasks.h"

struct off_ends {
    int fd;       /* epoll(7) of pidfds; negative: not available */
    size_t limit; /* of watched processes, each with a descriptor */
};

void off_ends_open(struct off_ends *ends);
void off_ends_close(struct off_ends *ends);

/* A living process; once for each is enough. */
void off_ends_watch(const struct off_ends *ends, struct off_tasks *tasks,
                    struct off_process *process);

/* `fd` has been ready: each end is reported once. */
void off_ends_take(const struct off_ends *ends);
