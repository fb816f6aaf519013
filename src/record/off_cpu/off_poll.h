/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time without perf events: schedstat of each thread, read at the ticks.
 *
 *     last read                                          this read
 *       ├─────── waiting = the rest ──┬── on a processor ──┤      by the sums of schedstat
 *
 * The sums are exact; where a wait began is known to a tick. A thread that does not run is read
 * less and less often. Threads and processes are found by listing them.
 */
#pragma once

#include "record/off_cpu/records/off_records.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct off_poll {
    struct off_tasks *tasks;
    struct off_waits *waits;
    struct off_records *records;
    enum event_reach reach; /* of the recording: which new threads and processes belong to it */
    uint64_t list_due_ns;
};

/* Takes over from the switch records, which have ended now. */
void off_poll_adopt(struct off_poll *poll, uint64_t now_ns);

/* Reads what is due; root: the first process; 0: new threads and processes are those of the known
 * processes. */
void off_poll_round(struct off_poll *poll, pid_t root, uint64_t now_ns);
