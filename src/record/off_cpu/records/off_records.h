/* SPDX-License-Identifier: MIT */
/* Records of the kernel rings, in the order of time, to threads and their intervals. */
#pragma once

#include "record/off_cpu/waits/off_waits.h"
#include "record/perf_ring/rings/ring_record.h"
#include "record/perf_ring/thread_events.h"

#include <stdbool.h>

struct off_records {
    struct off_tasks *tasks;
    struct off_waits *waits;
    uint64_t switches, lost; /* numbers of records */
    uint64_t starts;         /* threads and processes that have inherited the events */
    /* REACH_SYSTEM: all tasks have records: those of the kernel too, and of tasks that have ended.
     * Threads come from off_attach_system(), and by FORK. */
    enum event_reach reach;
    const bool *is_listed; /* by processor: waits that begin there count; NULL: all; owned */
};

void off_records_take(struct off_records *records, const struct ring_record *record);
/* Ends the thread at this time, and frees it. */
void off_records_end_thread(struct off_records *records, struct off_thread *thread,
                            uint64_t time_ns);
