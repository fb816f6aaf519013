/* SPDX-License-Identifier: MIT */
#include "sampler/sample/clock.h"

#include "sampler/base/own_call.h"

#include <sys/prctl.h>

bool clock_is_forbidden(void)
{
    int state = PR_TSC_ENABLE;
    own_syscall(GET_TSC, PR_GET_TSC, &state);
    return state == PR_TSC_SIGSEGV || (thread_self && thread_self->has_no_clock);
}
