/* SPDX-License-Identifier: MIT */
/*
 * A thread may have the kernel take the time stamp counter from it: by PR_SET_TSC, or with strict seccomp,
 * of which it is a part. Reading it is a fault from then on, also for the handler, and for the threads,
 * forked children and programs that come from that thread.
 *
 *     prctl() ─▶ thread->has_no_clock ─▶ handler: the launcher's last sign of life is the time
 */
#include "sampler/sample/clock.h"

#include "sampler/base/next_symbol.h"
#include "sampler/seccomp/seccomp.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

bool clock_is_forbidden(void)
{
    int state = PR_TSC_ENABLE;
    own_syscall(GET_TSC, PR_GET_TSC, &state);
    return state == PR_TSC_SIGSEGV || (thread_self && thread_self->has_no_clock);
}

/* Whether after this call the thread may read it; `now` when the call is about something else. */
static bool forbids(int option, unsigned long value, bool now)
{
    if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
        return true;
    return option == PR_SET_TSC ? value == PR_TSC_SIGSEGV : now;
}

/* A thread that lost its clock must not ask whether the call failed: it may have no system calls either. */
__attribute__((visibility("default"))) int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
    unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    struct thread_state *thread = process_is_followed() ? thread_self : NULL;
    bool before = thread && thread->has_no_clock;
    bool after = forbids(option, a, before);
    if (thread && after)
        thread->has_no_clock = true; /* before a signal can come */
    bool filters = option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER;
    struct seccomp_change change = {0};
    if (filters)
        change = seccomp_begin((const void *)b);
    signal_fence();
    int result = NEXT(prctl)(option, a, b, c, d);
    if (filters)
        seccomp_end(change, result != 0);
    if (thread)
        thread->has_no_clock = result == 0 ? after : before;
    return result;
}
