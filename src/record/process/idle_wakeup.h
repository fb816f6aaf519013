/* SPDX-License-Identifier: MIT */
/*
 * Wakes the collector from a long sleep when an idle process begins to run. The handler makes no system
 * call, so a process that slept fills its rings without a sign; looking often enough for the deepest stacks
 * costs 2 ms CPU a second. So each process gets a one-shot timer on its CPU clock, which needs no privilege:
 * the kernel signals the collector's thread when the process has used enough CPU time for a sample. The
 * kernel checks at its tick, so the signal is up to two ticks late.
 *
 * For the collector thread only.
 */
#pragma once

#include "record/process/process_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Once, in the collector's thread. doorbell: the futex that the collector sleeps on. */
bool idle_wakeup_prepare(uint32_t *doorbell);

/* Sets the timers. False: not every process can wake the collector, so a long sleep would lose samples. */
bool idle_wakeup_arm(struct process_table *processes, uint64_t period_ns);

/* Deletes the timer of a process. */
void idle_wakeup_forget(struct process *process);
