/* SPDX-License-Identifier: MIT */
#include "record/sample/poll_interval.h"

#include "base/budget.h"
#include "wire/session.h"

/* Of a record, without its frames. */
#define RECORD_BYTES 256
#define ROUND_MAX_NS 32000000
/* The round after a start or an end, behind most of the activity. */
#define START_ROUND_NS 4000000
/* Code without rows rarely comes alone: a program's start runs through one module after another. */
#define COPIES_FOLLOW_NS 200000000
/* After so much silence rounds become as rare as the heartbeat allows, unless the kernel's delay in
 * waking the collector, 20 ms at the slowest tick, is too long for the rate. */
#define IDLE_AFTER_NS 200000000
#define IDLE_ROUND_NS 900000000
#define IDLE_NEEDS_NS 20000000

void poll_interval_start(struct poll_interval *poll, uint64_t period_ns)
{
    /* A ring must not fill meanwhile, not even with the deepest stacks. */
    uint64_t deepest_bytes = 8 * budget_amount(BUDGET_FRAMES) + RECORD_BYTES;
    uint64_t longest_ns = SESSION_RING_BYTES / deepest_bytes * period_ns;
    bool is_short = longest_ns < ROUND_MAX_NS;
    if (longest_ns > ROUND_MAX_NS)
        longest_ns = ROUND_MAX_NS;
    if (longest_ns < ROUND_MIN_NS)
        longest_ns = ROUND_MIN_NS;
    /* A quarter: stack copies are larger than frames, and the kernel's delay comes on top. */
    uint64_t burst_ns = longest_ns / 4 > ROUND_MIN_NS ? longest_ns / 4 : ROUND_MIN_NS;
    *poll = (struct poll_interval){.wait_ns = ROUND_MIN_NS,
                                   .longest_ns = longest_ns,
                                   .burst_ns = burst_ns,
                                   .may_idle = longest_ns >= IDLE_NEEDS_NS,
                                   .is_short = is_short};
}

/* Stack copies fill rings quickly, large copies most of all. */
static bool is_hurried(const struct poll_facts *facts)
{
    return facts->waits_for_rusage || facts->has_pending ||
           (facts->has_stack_copies && facts->fullest_bytes > SESSION_RING_BYTES / 8);
}

bool poll_interval_is_idle(const struct poll_interval *poll, const struct poll_facts *facts)
{
    return poll->may_idle && !is_hurried(facts) && !facts->was_rung &&
           facts->silent_ns > IDLE_AFTER_NS;
}

/* Half a ring is left for late rounds on a busy machine. Other parts shorten waits, down to none
 * while they have work left: a next wait relative to none would be none for ever. */
static uint64_t steady_ns(const struct poll_interval *poll, const struct poll_facts *facts)
{
    bool is_burst = poll->is_short && facts->copies_age_ns < COPIES_FOLLOW_NS;
    uint64_t longest_ns = is_burst ? poll->burst_ns : poll->longest_ns;
    uint64_t wait_ns = poll->wait_ns > ROUND_MIN_NS ? poll->wait_ns : ROUND_MIN_NS;
    if (facts->fullest_bytes > SESSION_RING_BYTES / 2)
        return wait_ns / 2 > ROUND_MIN_NS ? wait_ns / 2 : ROUND_MIN_NS;
    if (facts->fullest_bytes > SESSION_RING_BYTES / 4 && wait_ns < longest_ns)
        return wait_ns;
    return wait_ns * 2 < longest_ns ? wait_ns * 2 : longest_ns;
}

uint64_t poll_interval_next(struct poll_interval *poll, const struct poll_facts *facts,
                            bool can_sleep_long)
{
    if (is_hurried(facts))
        poll->wait_ns = ROUND_MIN_NS;
    else if (facts->was_rung)
        poll->wait_ns = START_ROUND_NS < poll->burst_ns ? START_ROUND_NS : poll->burst_ns;
    else if (can_sleep_long)
        poll->wait_ns = IDLE_ROUND_NS;
    else
        poll->wait_ns = steady_ns(poll, facts);
    return poll->wait_ns;
}
