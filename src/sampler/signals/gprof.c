/* SPDX-License-Identifier: MIT */
#include "sampler/signals/gprof.h"

#include "sampler/base/next_symbol.h"
#include "sampler/process/start.h"

#include <sys/gmon.h>

void __monstartup(unsigned long low, unsigned long high)
{
    process_leave_sigprof();
    NEXT(__monstartup)(low, high);
}
