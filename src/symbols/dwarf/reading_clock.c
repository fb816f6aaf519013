/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/reading_clock.h"

#include "base/clock.h"
#include "base/sandbox/workers.h"

/* Reading all units takes 5 to 13 ms for each MiB of large files, and up to 40 ms of small,
 * compressed ones; a whole conversion 60 ms of Rust's libstd, mostly for demangling, outside of
 * this clock. */
#define MIB_NS UINT64_C(60000000)
#define LOOK_INTERVAL_NS 10000000
/* Of a call into libdw after the limit: no look is possible until the call returns. */
#define CALL_NS UINT64_C(5000000000)
struct reading_clock reading_clock_for(uint64_t bytes, uint64_t reserve_ns)
{
    struct reading_clock clock = {.reserve_ns = CPU_TIME_FACTOR * reserve_ns};
    reading_clock_extend(&clock, bytes);
    return clock;
}

void reading_clock_extend(struct reading_clock *clock, uint64_t bytes)
{
    clock->own_ns += CPU_TIME_FACTOR * (bytes >> 10) * (MIB_NS >> 10);
}

static void look(struct reading_clock *clock)
{
    const uint64_t now_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    clock->used_ns += now_cpu_ns - clock->begin_cpu_ns;
    clock->begin_cpu_ns = now_cpu_ns;
    clock->is_over = clock->used_ns > clock->own_ns + clock->reserve_ns;
}

bool reading_clock_begin(struct reading_clock *clock)
{
    if (clock->is_over)
        return false;
    clock->begin_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    worker_end_after(clock->own_ns + clock->reserve_ns - clock->used_ns +
                     CPU_TIME_FACTOR * CALL_NS);
    return true;
}

void reading_clock_end(struct reading_clock *clock)
{
    worker_end_after(0);
    look(clock);
}

/* The CPU time takes a system call, the monotonic clock none. */
bool reading_clock_is_over(struct reading_clock *clock)
{
    const uint64_t now_ns = monotonic_ns();
    if (now_ns >= clock->look_ns) {
        clock->look_ns = now_ns + LOOK_INTERVAL_NS;
        look(clock);
    }
    return clock->is_over;
}

uint64_t reading_clock_taken_ns(const struct reading_clock *clock)
{
    return clock->used_ns > clock->own_ns ? (clock->used_ns - clock->own_ns) / CPU_TIME_FACTOR : 0;
}
