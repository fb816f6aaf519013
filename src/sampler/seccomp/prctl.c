/* SPDX-License-Identifier: MIT */
#include "sampler/seccomp/prctl.h"

#include "sampler/base/next_symbol.h"
#include "sampler/process/retire.h"
#include "sampler/recorders/thread_lifecycle.h"
#include "sampler/seccomp/seccomp.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

/* The handler reads the time stamp counter, where a read would raise SIGSEGV from then on: also in
 * later threads, forked children and executed programs of this thread. */
static bool forbids_clock(int option, unsigned long value)
{
    return (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT) ||
           (option == PR_SET_TSC && value == PR_TSC_SIGSEGV);
}

int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
    unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    bool filters = option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER;
    struct seccomp_change change = {0};
    if (forbids_clock(option, a))
        process_retire(RETIREMENT_CLOCK);
    if (filters)
        change = seccomp_begin((const void *)b);
    int result = NEXT(prctl)(option, a, b, c, d);
    if (filters)
        seccomp_end(change, result != 0);
    if (option == PR_SET_NAME && result == 0)
        lifecycle_named((const char *)a);
    return result;
}
