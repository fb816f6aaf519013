/* SPDX-License-Identifier: MIT */
/* syscall(): calls that the sampler interposes by their own names are passed to those functions. */
#include "sampler/base/next_symbol.h"
#include "sampler/seccomp/seccomp.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Its own declaration has no parameters to hand on: with these the call becomes a jump, which leaves nothing on the
 * stack, as those need who make a new process this way. */
long syscall_hook(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

/* With flags it may return a descriptor, or the id of a thread that cannot take the filter. */
static long install_filter(long number, long a, long b, long c)
{
    struct seccomp_change change = seccomp_begin((const void *)c);
    long result = NEXT(syscall)(number, a, b, c);
    seccomp_end(change, result < 0);
    return result;
}

__attribute__((visibility("default"))) long syscall_hook(long number, long a, long b, long c,
                                                         long d, long e, long f)
{
    typedef long function(long, long, long, long, long, long, long);
    if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
        return install_filter(number, a, b, c);
    if (number == SYS_close_range)
        return close_range((unsigned)a, (unsigned)b, (int)c);
    if (number == SYS_mlockall)
        return mlockall((int)a);
    if (number == SYS_signalfd || number == SYS_signalfd4)
        signalfd_prepare((const sigset_t *)b, (size_t)c);
    if (number == SYS_rt_sigtimedwait && d == sizeof(uint64_t))
        return waits_bare((const sigset_t *)a, (siginfo_t *)b, (const struct timespec *)c);
    if (number == SYS_prctl)
        return prctl((int)a, b, c, d, e);
    if (signals_are_set_by(number, (int)a, d))
        return raw_told(
            signals_set_bare((const struct kernel_action *)b, (struct kernel_action *)c));
    if (clone_is_fork(number, a, b)) {
        long pid = ((function *)next_symbol(NEXT_INDEX_syscall))(number, a, b, c, d, e, f);
        if (pid == 0)
            process_join_after_fork();
        return pid;
    }
    return ((function *)next_symbol(NEXT_INDEX_syscall))(number, a, b, c, d, e, f);
}
