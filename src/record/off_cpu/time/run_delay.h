/* SPDX-License-Identifier: MIT */
/*
 * Time between a wake-up and the next processor. Switch records have no wake-ups; schedstat
 * (proc(5)) has the sum of all time of a thread without a processor, preempted or woken:
 *
 *     woken = schedstat - preempted (by the records) - before the records
 *
 * An account that is newer than the records has preemptions that are to come in the records: it
 * counts when the records have all of its turns. The difference is less than 0 where the account
 * counts the end of a preemption as CPU time (cpu_excess.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run_delay {
    bool has_base;
    int64_t base_ns;      /* of schedstat, before the records; valid with has_base */
    int64_t woken_ns;     /* found so far */
    uint64_t turns_ahead; /* the latest account is so many turns newer than the records */
    uint64_t ahead_ns;    /* of schedstat */
};

/* What is new since the last call. delay_ns: of schedstat; preempted_ns: sum of the records. The
 * first call without a base sets the base. */
int64_t run_delay_take(struct run_delay *delay, uint64_t delay_ns, uint64_t preempted_ns);

/* The records have another turn. What is new, as above. */
int64_t run_delay_turn(struct run_delay *delay, uint64_t preempted_ns);
