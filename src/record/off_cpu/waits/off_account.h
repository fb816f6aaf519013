/* SPDX-License-Identifier: MIT */
/* CPU time and run delay of a thread in schedstat beyond the switch records. */
#pragma once

#include "record/off_cpu/off_tasks.h"

/* New runnable time after wake-ups, see run_delay_take(). New CPU time is added to
 * thread->excess_ns. */
int64_t off_account_take(struct off_thread *thread, const struct run_account *account);

/* Runnable time of an account that may be newer than the records: corrected when they follow. */
int64_t off_account_take_delay(struct off_thread *thread, const struct run_account *account);

/* The same of an ended thread that schedstat still has: the records are complete. */
int64_t off_account_take_last(struct off_thread *thread, const struct run_account *account);

/* An account that the thread has noted in this turn, or in one of the latest. False: the records
 * have no such turn. */
bool off_account_has_note(const struct off_thread *thread, const struct run_account *note);
int64_t off_account_take_note(struct off_thread *thread, const struct run_account *note);

/* Runnable time of preemptions that the records have as CPU time: leaves woken_ns and excess_ns. */
uint64_t off_account_take_preempted(struct off_thread *thread);

/* The thread has ended, and schedstat with it: the rest of the CPU time is estimated. */
void off_account_end(struct off_thread *thread);

/* The part of a sum that the amount takes: at most the sum; 0 for a negative amount. */
uint64_t off_account_part(int64_t amount_ns, uint64_t sum_ns);
