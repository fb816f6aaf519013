/* SPDX-License-Identifier: MIT */
#include "sampler/identity.h"

#include "sampler/own_call.h"

#include <unistd.h>

bool process_is_another(void)
{
    if (sandbox_forbids(CALL_BIT(GETPID)))
        return load_relaxed(process_alive) != 1;
    return process.slot && process.slot->pid != (uint32_t)own_syscall(GETPID);
}
