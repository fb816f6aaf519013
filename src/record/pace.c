/* SPDX-License-Identifier: MIT */
/*
 * How long the collector sleeps until its next round, unless somebody rings: as long as no ring can be full by then, and
 * its own cost stays small.
 *
 *     copies of stacks arrive, a bill is missing   1 ms
 *     somebody rang                                4 ms
 *     rings fill                                   as before, or half of it
 *     nothing was written for 0.2 s                0.9 s, as processes wake us (wake.c)
 *     otherwise                                    twice as long as before, at most 32 ms
 *
 * Rounds come as often as the rate demands, also in short pauses: the first burst of deep stacks must fit, too.
 */
#include "record/collector_parts.h"

/* A ring must not fill meanwhile, not even with the deepest stacks. */
#define PERIODS_PER_ROUND (SESSION_RING_BYTES / (8 * RECORD_FRAMES_MAX + 256))
#define ROUND_MAX_NS 32000000
/* The round after something has started or ended, which is when most of what follows has happened, too. */
#define START_ROUND_NS 4000000
/* When nothing was written for so long, rounds become as rare as the heartbeat allows, unless the time that
 * the kernel takes to wake us, 20 ms at the slowest tick, is too long for the rate. */
#define IDLE_AFTER_NS 200000000
#define IDLE_ROUND_NS 900000000
#define IDLE_NEEDS_NS 20000000

void pace_start(struct collector *collector)
{
    uint64_t longest_ns = PERIODS_PER_ROUND * collector->period_ns;
    if (longest_ns > ROUND_MAX_NS)
        longest_ns = ROUND_MAX_NS;
    collector->pace = (struct pace){.wait_ns = ROUND_MIN_NS, .longest_ns = longest_ns};
    collector->pace.may_idle = longest_ns >= IDLE_NEEDS_NS && wake_prepare(collector);
}

void pace_begin_round(struct collector *collector)
{
    collector->pace.doorbell_before = collector->doorbell;
    collector->pace.misses_before = collector->summary->misses;
    collector->fullest_bytes = 0;
}

/* Copied stacks fill rings quickly, large ones most of all. */
static bool takes_copies(const struct collector *collector)
{
    return collector->miss_count > 0 ||
           (collector->summary->misses != collector->pace.misses_before &&
            collector->fullest_bytes > SESSION_RING_BYTES / 8);
}

static bool is_idle(const struct collector *collector)
{
    return collector->miss_count == 0 &&
           collector->round_ns - collector->last_wrote_ns > IDLE_AFTER_NS;
}

/* Half a ring is left for rounds that come late: on a busy machine they do. */
static uint64_t steady_ns(const struct collector *collector)
{
    uint64_t wait_ns = collector->pace.wait_ns, longest_ns = collector->pace.longest_ns;
    if (collector->fullest_bytes > SESSION_RING_BYTES / 2)
        return wait_ns / 2 > ROUND_MIN_NS ? wait_ns / 2 : ROUND_MIN_NS;
    if (collector->fullest_bytes > SESSION_RING_BYTES / 4 && wait_ns < longest_ns)
        return wait_ns;
    return wait_ns * 2 < longest_ns ? wait_ns * 2 : longest_ns;
}

static uint64_t not_past_delay_ns(const struct collector *collector, uint64_t wait_ns)
{
    uint64_t now_ns = collector->round_ns;
    if (!collector->is_quiet || collector->quiet_until_ns > now_ns + wait_ns)
        return wait_ns;
    return collector->quiet_until_ns > now_ns ? collector->quiet_until_ns - now_ns : 0;
}

uint64_t pace_wait_ns(struct collector *collector)
{
    struct pace *pace = &collector->pace;
    if (takes_copies(collector) || collector->waits_for_bill)
        pace->wait_ns = ROUND_MIN_NS;
    else if (collector->doorbell != pace->doorbell_before)
        pace->wait_ns = START_ROUND_NS < pace->longest_ns ? START_ROUND_NS : pace->longest_ns;
    else if (pace->may_idle && is_idle(collector) && wake_arm(collector))
        pace->wait_ns = IDLE_ROUND_NS;
    else
        pace->wait_ns = steady_ns(collector);
    pace->wait_ns = strangers_wait_ns(collector, pace->wait_ns);
    return not_past_delay_ns(collector, pace->wait_ns);
}
