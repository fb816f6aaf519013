/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/blocked_call.h"

#include <stdlib.h>
#include <string.h>

/* Parses the number at *at and moves *at behind. */
static bool take(const char **at, int base, uint64_t *number)
{
    char *end;
    *number = strtoull(*at, &end, base);
    bool is_number = end != *at;
    *at = end;
    return is_number;
}

/* /proc/PID/task/TID/syscall (proc(5)): "running", or number, six arguments, SP and PC; number -1
 * without a system call, SP and PC 0 for threads of the kernel. */
bool blocked_call_parse(struct blocked_call *call, const char *text)
{
    *call = (struct blocked_call){.state = CALL_RUNNING};
    if (strncmp(text, "running", 7) == 0)
        return true;
    const char *at = text;
    bool is_call = *at != '-', is_whole = take(&at, 10, &call->number);
    for (int i = 0; is_call && is_whole && i < 6; i++)
        is_whole = take(&at, 16, &call->arguments[i]);
    is_whole = is_whole && take(&at, 16, &call->sp) && take(&at, 16, &call->pc);
    call->state = is_call ? CALL_WAITING : CALL_FAULTING;
    if (call->sp == 0 && call->pc == 0)
        call->state = CALL_STACKLESS;
    return is_whole;
}

/* /proc/PID/task/TID/schedstat: ns on a processor, ns in a run queue, number of turns. */
bool run_account_parse(struct run_account *account, const char *text)
{
    const char *at = text;
    return take(&at, 10, &account->cpu_ns) && take(&at, 10, &account->delay_ns) &&
           take(&at, 10, &account->turns);
}
