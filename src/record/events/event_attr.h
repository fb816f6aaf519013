/* SPDX-License-Identifier: MIT */
/* The attributes that all perf events of rec share. */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

/* CPU time of a task in user mode, disabled, a sample in each period. No records. */
struct perf_event_attr event_attr_clock(uint64_t period_ns);

/* Samples as ring_record_decode() reads them, with a copy of the user stack. */
void event_attr_take_stacks(struct perf_event_attr *attr, uint32_t stack_bytes);

/* task, processor, flags: as for perf_event_open(2). A descriptor, or a negative errno. */
int event_open(struct perf_event_attr *attr, int task, int processor, unsigned long flags);
