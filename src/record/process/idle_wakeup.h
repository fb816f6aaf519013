/* SPDX-License-Identifier: MIT */
/*
 * Wakes the collector from a long sleep when an idle process begins to run. Handlers make no system
 * call, so nothing announces records in the rings; polling often enough for the deepest stacks
 * costs 2 ms CPU a second. Each process therefore gets a one-shot timer on its CPU clock (no
 * privilege needed): the kernel signals the collector's thread when the process has used enough CPU
 * time for a sample. The kernel checks CPU timers at its tick, so the signal is up to two ticks
 * late.
 *
 * For the collector thread only.
 */
#pragma once

#include "record/process/process_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Once, in the collector's thread. doorbell: the futex of the collector's sleep. */
bool idle_wakeup_prepare(uint32_t *doorbell);

/* Sets the timers. False: some process cannot wake the collector, so a long sleep would lose
 * samples. */
bool idle_wakeup_arm(struct process_table *processes, uint64_t period_ns);

/* Deletes the timer of a process. */
void idle_wakeup_forget(struct process *process);
