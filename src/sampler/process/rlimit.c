/* SPDX-License-Identifier: MIT */
/*
 * Who limits its own address space counts on what is left then. Of what the sampler has mapped most is for other
 * processes and threads that are not there yet: that is given back before.
 */
#include "sampler/process/rlimit.h"

#include "sampler/base/next_symbol.h"
#include "sampler/process/attach.h"

#include <sys/resource.h>

static void look_at_limit(int resource, const struct rlimit *limit)
{
    if (resource == RLIMIT_AS && limit && limit->rlim_cur != RLIM_INFINITY)
        session_make_room();
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    look_at_limit((int)resource, limit);
    return NEXT(setrlimit)(resource, limit);
}

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    return setrlimit(resource, (const struct rlimit *)limit);
}

int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
            struct rlimit *old)
{
    if (pid == 0 || (process.slot && (uint32_t)pid == process.slot->pid))
        look_at_limit((int)resource, limit);
    return NEXT(prlimit)(pid, resource, limit, old);
}

int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit,
              struct rlimit64 *old)
{
    return prlimit(pid, resource, (const struct rlimit *)limit, (struct rlimit *)old);
}
