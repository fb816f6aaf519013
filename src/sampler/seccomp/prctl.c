/* SPDX-License-Identifier: MIT */
#include "sampler/seccomp/prctl.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/state.h"
#include "sampler/recorders/thread_lifecycle.h"
#include "sampler/seccomp/seccomp.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>

/* Whether the thread loses access to the time stamp counter; `now` for calls about something
 * else. */
static bool forbids_clock(int option, unsigned long value, bool now)
{
    if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
        return true;
    return option == PR_SET_TSC ? value == PR_TSC_SIGSEGV : now;
}

/* The result of the call decides about has_no_clock: a thread under strict seccomp cannot query the
 * state any more. */
int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
    unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    struct thread_state *thread = process_is_followed() ? thread_self : NULL;
    bool before = thread && thread->has_no_clock;
    bool after = forbids_clock(option, a, before);
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
    if (option == PR_SET_NAME && result == 0)
        lifecycle_named((const char *)a);
    if (thread)
        thread->has_no_clock = result == 0 ? after : before;
    return result;
}
