/* SPDX-License-Identifier: MIT */
/* Records of the kernel rings, in the order of time, to threads and their intervals. */
#pragma once

#include "record/off_cpu/off_waits.h"
#include "record/perf_ring/ring_record.h"

struct off_records {
    struct off_tasks *tasks;
    struct off_waits *waits;
    uint64_t switches, lost; /* numbers of records */
};

void off_records_take(struct off_records *records, const struct ring_record *record);
/* Ends the thread at this time, and frees it. */
void off_records_end_thread(struct off_records *records, struct off_thread *thread,
                            uint64_t time_ns);
