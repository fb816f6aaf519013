/* SPDX-License-Identifier: MIT */
#include "record/sample/tsc_clock.h"

#include "arch/own.h"

#include <time.h>

#define MEASURED_NS 200000

/* Reads both clocks at the same time: of three tries, the shortest was interrupted least. */
static struct tsc_anchor read_both(void)
{
    struct tsc_anchor best = {0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = arch_ticks();
        uint64_t ns = monotonic_ns();
        uint64_t width = arch_ticks() - before;
        if (width < best_width) {
            best_width = width;
            best = (struct tsc_anchor){.ticks = before + width / 2, .ns = ns};
        }
    }
    return best;
}

/* (value * numerator) / denominator without overflow. */
static uint64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
    return denominator ? (uint64_t)((unsigned __int128)value * numerator / denominator) : 0;
}

static struct tsc_anchor measured_from;

void tsc_measure(void)
{
    measured_from = read_both();
}

uint64_t tsc_per_second(void)
{
    static uint64_t rate;
    if (rate)
        return rate;
    if (measured_from.ns == 0)
        tsc_measure();
    struct tsc_anchor end;
    do
        end = read_both();
    while (end.ns - measured_from.ns < MEASURED_NS);
    rate = scale(end.ticks - measured_from.ticks, 1000000000, end.ns - measured_from.ns);
    return rate;
}

void tsc_clock_start(struct tsc_clock *clock)
{
    uint64_t rate = tsc_per_second();
    clock->first = read_both();
    clock->latest = clock->first;
    /* A segment to extrapolate from until the first advance. */
    clock->previous = (struct tsc_anchor){.ticks = clock->first.ticks - rate / 1000,
                                          .ns = clock->first.ns - 1000000};
}

uint64_t tsc_clock_advance(struct tsc_clock *clock)
{
    struct tsc_anchor now = read_both();
    /* Too close to the last reading for an exact rate. */
    if (now.ns - clock->latest.ns > 100000) {
        clock->previous = clock->latest;
        clock->latest = now;
    }
    return now.ns;
}

/* By the segment around the counter's value:
 *
 *     first ─────────── average ─────────── previous ──── latest ── extrapolated ─▶
 */
uint64_t tsc_to_ns(const struct tsc_clock *clock, uint64_t ticks)
{
    uint64_t span_ticks = clock->latest.ticks - clock->previous.ticks;
    uint64_t span_ns = clock->latest.ns - clock->previous.ns;
    if (ticks >= clock->latest.ticks)
        return clock->latest.ns + scale(ticks - clock->latest.ticks, span_ns, span_ticks);
    if (ticks >= clock->previous.ticks)
        return clock->previous.ns + scale(ticks - clock->previous.ticks, span_ns, span_ticks);
    if (ticks < clock->first.ticks) {
        uint64_t before_ns = scale(clock->first.ticks - ticks, span_ns, span_ticks);
        return before_ns < clock->first.ns ? clock->first.ns - before_ns : 0;
    }
    /* Older than the last two readings: the average rate since the start is exact enough. */
    return clock->first.ns + scale(ticks - clock->first.ticks, clock->previous.ns - clock->first.ns,
                                   clock->previous.ticks - clock->first.ticks);
}

uint64_t tsc_span_ns(const struct tsc_clock *clock, uint64_t ticks)
{
    return scale(ticks, clock->latest.ns - clock->previous.ns,
                 clock->latest.ticks - clock->previous.ticks);
}
