/* SPDX-License-Identifier: MIT */
/*
 * Since when a thread is off the processor, also before rec started: se.exec_start in
 * /proc/PID/task/TID/sched, by the clock of the processor where the thread ran. Each processor has
 * a clock of its own, without stolen and interrupt time, so the calling thread moves to the
 * processor and reads its own exec_start there.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WAIT_AGE_UNKNOWN UINT64_MAX

struct wait_clock {
    cpu_set_t allowed;                   /* of the calling thread, at the start */
    int processor;                       /* -1: none yet */
    bool is_usable;                      /* the clock of this processor could be read */
    uint64_t scheduler_ns, monotonic_ns; /* the same instant */
};

/* False: malformed, or a kernel without the value. */
bool wait_age_parse(uint64_t *exec_start_ns, const char *text);

void wait_clock_begin(struct wait_clock *clock);
/* Time since the thread last ran, on this processor. WAIT_AGE_UNKNOWN: not readable, or the
 * processor is forbidden for rec. Calls in the order of processors move the caller least. */
uint64_t wait_clock_age_ns(struct wait_clock *clock, pid_t pid, pid_t tid, int processor);
/* Restores the processors of the calling thread. */
void wait_clock_end(const struct wait_clock *clock);
