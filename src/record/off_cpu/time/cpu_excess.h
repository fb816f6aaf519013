/* SPDX-License-Identifier: MIT */
/*
 * Time that the scheduler's account (schedstat, rusage) counts as CPU time and switch records as
 * time off the processor. The account of a woken thread that takes the processor at once begins
 * with the wake-up (kernel/sched/core.c, wakeup_preempt(): the clock is not read again), the record
 * comes after the switch: 3 to 20 us for each wait.
 *
 *     OUT ──── waits ────▶ woken ──▶ IN ──── runs ────▶ OUT
 *      account:             └────────── CPU time ───────┘
 *      records:                       └── CPU time ─────┘
 *
 * CPU samples follow the account, so this time is no wait.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu_excess { /* zeros with has_base: a thread recorded from its start on */
    bool has_base;
    /* Before the records: account less records, and turns of the account. Valid with has_base. */
    int64_t base_ns;
    uint64_t base_turns;
    int64_t taken_ns;           /* since the base */
    uint64_t turns, read_turns; /* on a processor: since the latest read, and before */
};

/* Of a thread without a processor: CPU time and turns of the account, and CPU time by the records.
 * What is new since the last call; 0 if the account has turns that the records do not have yet. The
 * first call without a base sets the base. */
int64_t cpu_excess_take(struct cpu_excess *excess, uint64_t cpu_ns, uint64_t turns, uint64_t on_ns);
/* Of the account, as the records have them; valid with has_base. */
uint64_t cpu_excess_turns(const struct cpu_excess *excess);
/* Of the account, not in the records yet; 0 without a base. */
uint64_t cpu_excess_turns_ahead(const struct cpu_excess *excess, uint64_t turns);
void cpu_excess_set_base(struct cpu_excess *excess, uint64_t cpu_ns, uint64_t turns,
                         uint64_t on_ns);

/* Of the turns since the latest read, at the mean of the turns before, but at most this much for a
 * turn. A mean of N turns stands for at most N turns: a thread that is woken once a second
 * may end with a burst of other turns. */
enum { CPU_EXCESS_MAX_NS = 30000 };
int64_t cpu_excess_estimate(const struct cpu_excess *excess);
