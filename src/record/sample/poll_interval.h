/* SPDX-License-Identifier: MIT */
/*
 * The collector's sleep between two rounds: short enough for the fullest ring, long enough for a
 * small cost of rec. Pure arithmetic.
 *
 *     stack copies arrive, a rusage is missing     1 ms
 *     the doorbell was rung                        4 ms; less where rings fill sooner
 *     rings fill                                   as before, or half
 *     no record for 0.2 s                          0.9 s, if processes can wake the collector
 *     otherwise                                    twice as long as before, at most 32 ms; a
 *                                                  quarter at high rates, until 0.2 s have passed
 *                                                  without a stack copy
 *
 * A pause keeps the rate's limit, too: the first burst of deep stacks must fit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ROUND_MIN_NS 1000000

struct poll_interval {
    uint64_t wait_ns, longest_ns;
    uint64_t burst_ns; /* in place of longest_ns, while large records may come at any time */
    bool may_idle;     /* the rate allows a long sleep */
    bool is_short;     /* the rate does not allow the usual longest wait */
};

/* Facts of the last round. */
struct poll_facts {
    bool has_pending;       /* samples wait for maps or CFI */
    bool has_stack_copies;  /* some were finished in this round */
    bool waits_for_rusage;  /* of an ended process */
    bool was_rung;          /* by a process or the compiler */
    uint64_t fullest_bytes; /* content of the fullest ring */
    uint64_t silent_ns;     /* since the last round with a written record */
    uint64_t copies_age_ns; /* since the last round with has_stack_copies */
};

/* period_ns: between two samples of a thread; 0: as short as the program can make it. */
void poll_interval_start(struct poll_interval *poll, uint64_t period_ns);

/* Nothing happens: a long sleep is possible if every process can wake the collector. */
bool poll_interval_is_idle(const struct poll_interval *poll, const struct poll_facts *facts);

/* The time to sleep. can_sleep_long: poll_interval_is_idle(), and wake-ups are armed. */
uint64_t poll_interval_next(struct poll_interval *poll, const struct poll_facts *facts,
                            bool can_sleep_long);
