/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/reading_clock.h"

#include "base/clock.h"

/* A whole conversion of 40 000 addresses takes 10 ms for each MiB of libpython, and 60 ms of Rust's
 * libstd, mostly for demangling, outside of this clock. */
#define BASE_NS UINT64_C(500000000)
#define MIB_NS UINT64_C(60000000)
#define LOOK_INTERVAL_NS 10000000
#ifdef __SANITIZE_ADDRESS__
enum { SLOWER = 3 };
#else
enum { SLOWER = 1 };
#endif

struct reading_clock reading_clock_for(uint64_t bytes)
{
    struct reading_clock clock = {.limit_ns = SLOWER * BASE_NS};
    reading_clock_extend(&clock, bytes);
    return clock;
}

void reading_clock_extend(struct reading_clock *clock, uint64_t bytes)
{
    clock->limit_ns += SLOWER * (bytes >> 10) * (MIB_NS >> 10);
}

static void look(struct reading_clock *clock)
{
    const uint64_t now_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    clock->used_ns += now_cpu_ns - clock->begin_cpu_ns;
    clock->begin_cpu_ns = now_cpu_ns;
    clock->is_over = clock->used_ns > clock->limit_ns;
}

bool reading_clock_begin(struct reading_clock *clock)
{
    if (clock->is_over)
        return false;
    clock->begin_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return true;
}

void reading_clock_end(struct reading_clock *clock)
{
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
