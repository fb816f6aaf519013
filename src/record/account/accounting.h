/* SPDX-License-Identifier: MIT */
/*
 * Closes the accounts. The CPU time billed by the kernel to a process is the truth; the part
 * without samples becomes samples of synthetic frames:
 *
 *     0 ──────── constructor ─────────────────────────────────────────────────── exit() ──── end
 *     │ exec, dynamic linking │ samples (their weights add up), and time between │ teardown │
 *     └──── [exec and …] ─────┘             └───── [between samples] ─────┘      └─ [exit] ─┘
 *
 * A process keeps its pid and its rusage across an exec: the gap between the end of the old program
 * and the start of the new program is [exec and dynamic linking] of the new program.
 *
 * The kernel forgets a process once its parent has waited for the process. The parent's sampler
 * passes on the rusage returned by the wait. Failing this (a parent without a sampler), the event's
 * count stands in: since Linux 6.17 without the teardown of the address space.
 */
#pragma once

#include "record/account/sampling_gaps.h"
#include "record/process/process_table.h"
#include "record/sample/sample_writer.h"

#include <stdbool.h>
#include <stdint.h>

struct accounting {
    struct process_table *processes;
    struct sample_writer *samples;
    const struct sampling_gaps *gaps;
    uint32_t processors;
};

/* Whether the final CPU time of an ended process is available. */
bool accounting_has_rusage(const struct accounting *accounting, const struct process *process);

/* A program starts. before: the replaced program, or NULL; earlier_ns: earlier CPU time of the
 * pid, already written. */
void accounting_start(struct accounting *accounting, struct process *process,
                      struct process *before, uint64_t earlier_ns);

/* The process goes on with this CPU time, recorded from outside. */
void accounting_leave(struct accounting *accounting, struct process *process, uint64_t cpu_ns,
                      uint64_t time_ns);

/* A process has ended, or the recording. */
void accounting_end(struct accounting *accounting, struct process *process, uint64_t end_ns);
