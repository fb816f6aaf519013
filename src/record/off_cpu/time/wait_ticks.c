/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/wait_ticks.h"

#include "base/containers/hash.h"

uint64_t wait_tick_ns(const struct wait_ticks *ticks, uint64_t number)
{
    return number * ticks->interval_ns + hash_word(number ^ ticks->seed) % ticks->interval_ns;
}

uint64_t wait_tick_from(const struct wait_ticks *ticks, uint64_t time_ns)
{
    uint64_t number = time_ns / ticks->interval_ns;
    return wait_tick_ns(ticks, number) >= time_ns ? number : number + 1;
}
