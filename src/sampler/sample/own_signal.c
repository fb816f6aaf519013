/* SPDX-License-Identifier: MIT */
#include "sampler/sample/own_signal.h"

#include "sampler/base/state.h"
#include "sampler/sample/perf_trap.h"

#include <stddef.h>

#ifndef TRAP_PERF
#define TRAP_PERF 6 /* Linux 5.13, unknown to older C libraries */
#endif

const char own_signal_timer_token;

_Static_assert(PERF_TRAP_DATA_AT == offsetof(siginfo_t, si_addr) + sizeof(void *),
               "si_perf_data follows si_addr");

bool own_signal_is_timer(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &own_signal_timer_token;
}

bool own_signal_is_ours(const siginfo_t *info)
{
    bool is_event = process.engine == ENGINE_PERF_TRAP && info->si_code == TRAP_PERF &&
                    perf_trap_data(info) == process.tables->header.sig_data;
    return is_event || own_signal_is_timer(info);
}
