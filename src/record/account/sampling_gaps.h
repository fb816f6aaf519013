/* SPDX-License-Identifier: MIT */
/*
 * Processes with growing CPU time but without new samples. Such time must not look like the end of
 * a program: the time becomes [lost], and its cause is reported. A process without any sample may
 * end before two looks: then its account at the end decides.
 *
 *     CPU time ─────────────────────╮ gap; normal: periods, a tick, a kernel interval per thread
 *     samples, with pending samples ╯
 */
#pragma once

#include "record/process/process_table.h"
#include "record/round.h"
#include "record/process/untracked/untracked_threads.h"

#include <stdbool.h>
#include <stdint.h>

struct sampling_gaps {
    struct untracked_threads *untracked;
    const struct round *round;
    uint64_t period_ns;
};

/* After a look at the CPU time of the process. */
void sampling_gaps_check(struct sampling_gaps *gaps, struct process *process);

/*
 * At the end of a process: whether its rest is lost, with process->blind_cause. own_ns: the
 * program's own part of the rest, without the teardown of the address space, which has no samples.
 */
bool sampling_gaps_at_end(const struct sampling_gaps *gaps, struct process *process,
                          uint64_t own_ns);
