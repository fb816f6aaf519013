/* SPDX-License-Identifier: MIT */
/*
 * Ends of processes recorded through kernel rings, and the CPU accounts that are closed then. A
 * process ends by its EXIT record, by its pidfd, or by a look that does not find it.
 */
#pragma once

#include "record/perf_ring/ring_tasks.h"

#include <stdint.h>

/* Closes the account, writes the EXIT, and frees the process. */
void ring_ends_take(struct ring_tasks *tasks, struct ring_process *process, uint64_t time_ns);

/* Looks at the CPU time of all processes, and ends processes without an EXIT record. */
void ring_ends_look(struct ring_tasks *tasks);
/* The delay before sampling is over: only CPU time from now on counts. Returns the CPU time of the
 * processes during the delay; 0 where all tasks are recorded. */
uint64_t ring_ends_restart(struct ring_tasks *tasks);
/* Closes the accounts of the living processes. */
void ring_ends_finish(struct ring_tasks *tasks);
