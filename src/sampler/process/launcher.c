/* SPDX-License-Identifier: MIT */
/* The launcher as seen by the target: existence, and waiting. */
#include "sampler/process/launcher.h"

#include "sampler/arch/arch.h"
#include "sampler/base/own_call.h"

/* Between two looks at the end of the recording. */
#define PAUSE_NS 5000000u

/* The launcher has ended, or a wait has failed since its last sign of life. */
bool launcher_is_stale(void)
{
    uint64_t heartbeat_ticks = load_relaxed(&process.tables->header.heartbeat_ticks);
    return launcher_is_away(arch_ticks()) ||
           load_relaxed(&process.requests->deserted_ticks) == heartbeat_ticks;
}

void ring_doorbell(void)
{
    add_release(&process.requests->doorbell, 1);
    own_syscall(FUTEX_WAKE, &process.requests->doorbell, FUTEX_WAKE, 1);
}

/* A failed wait is noted: until the next sign of life no other start waits. */
static bool give_up(uint64_t heartbeat_ticks)
{
    store_relaxed(&process.requests->deserted_ticks, heartbeat_ticks);
    return false;
}

bool launcher_await(uint32_t *word, uint32_t value, uint64_t longest_ns)
{
    const struct tables_header *header = &process.tables->header;
    uint64_t heartbeat_ticks = load_relaxed(&header->heartbeat_ticks);
    uint64_t deadline_ns = 0;
    ring_doorbell();
    for (;;) {
        uint32_t now = load_acquire(word);
        if ((int32_t)(now - value) >= 0)
            return true;
        uint64_t time_ns = clock_ns(CLOCK);
        if (deadline_ns == 0)
            deadline_ns = time_ns + longest_ns;
        if (time_ns >= deadline_ns || load_relaxed(&header->stop))
            return give_up(heartbeat_ticks);
        uint64_t left_ns = deadline_ns - time_ns;
        struct timespec left = {.tv_nsec = (long)(left_ns < PAUSE_NS ? left_ns : PAUSE_NS)};
        own_syscall(FUTEX_WAIT, word, FUTEX_WAIT, now, &left);
    }
}
