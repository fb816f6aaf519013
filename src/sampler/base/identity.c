/* SPDX-License-Identifier: MIT */
#include "sampler/base/identity.h"

#include "sampler/base/own_call.h"

#include <unistd.h>

bool process_is_another(void)
{
    if (seccomp_forbids(CALL_BIT(GETPID)))
        return load_relaxed(process_alive) != 1;
    return process.pid && process.pid != (uint32_t)own_syscall(GETPID);
}
