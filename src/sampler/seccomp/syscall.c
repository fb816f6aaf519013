/* SPDX-License-Identifier: MIT */
#include "sampler/seccomp/syscall.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/raw_call.h"
#include "sampler/exec/clone.h"
#include "sampler/exec/fds.h"
#include "sampler/process/retire.h"
#include "sampler/process/start.h"
#include "sampler/seccomp/prctl.h"
#include "sampler/seccomp/seccomp.h"
#include "sampler/signals/signalfd.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

/* With flags the result may be a descriptor, or the id of a thread with an incompatible filter. */
static long install_filter(long number, long a, long b, long c)
{
    struct seccomp_change change = seccomp_begin((const void *)c);
    long result = NEXT(syscall)(number, a, b, c);
    seccomp_end(change, result < 0);
    return result;
}

HOOK long syscall_hook(long number, long a, long b, long c, long d, long e, long f)
{
    typedef long function(long, long, long, long, long, long, long);
    if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
        return install_filter(number, a, b, c);
    if (number == SYS_close_range)
        return close_range((unsigned)a, (unsigned)b, (int)c);
    if (number == SYS_signalfd || number == SYS_signalfd4)
        signalfd_prepare((const sigset_t *)b, (size_t)c);
    if (number == SYS_ptrace)
        ptrace_prepare(a);
    if (number == SYS_prctl)
        return prctl((int)a, b, c, d, e);
    if (clone_is_fork(number, a, b)) {
        long pid = ((function *)next_symbol(NEXT_INDEX_syscall))(number, a, b, c, d, e, f);
        if (pid == 0)
            process_join_after_fork();
        return pid;
    }
    return ((function *)next_symbol(NEXT_INDEX_syscall))(number, a, b, c, d, e, f);
}
