/* SPDX-License-Identifier: MIT */
/*
 * Processes about to execute a program without a sampler, see sampler/exec/departure.c. The engine
 * perf-ring records the program from the exec on:
 *
 *     process with a sampler   word DONE ─▶ is_departing ─▶ exec ─▶ the entry of the table ends
 *     its vfork child          word DONE ─▶ exec
 */
#pragma once

#include "record/perf_ring/outside.h"
#include "record/process/process_watch.h"

struct departures {
    struct process_table *processes;
    struct process_watch *watch;
    struct outside *outside;
};

/* Once a round: answers all announcements; takes back the failed ones. */
void departures_answer(struct departures *departures);

/* After the kernel rings have been read: ends the processes that have executed their program, and
 * gives the CPU time of ended ones to the account of the tree. */
void departures_settle(struct departures *departures);
