/* SPDX-License-Identifier: MIT */
/*
 * A program may forbid itself, on pain of death, all system calls but those that it knows of. From then on the sampler
 * makes none that it would not make without: threads that begin later, and forked children, are not announced, and
 * nothing is settled when a thread ends. Those that have their timer or event go on being sampled.
 *
 * Which calls the filter forbids is not looked at. One that was there before the program is the sampler's, too.
 */
#include "sampler/sandbox.h"

#include "sampler/raw.h"
#include "sampler/real.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

bool sandbox_begin(void)
{
    bool before = process.is_sandboxed;
    process.is_sandboxed = true;
    return before;
}

void sandbox_end(bool before, bool has_failed)
{
    if (has_failed)
        process.is_sandboxed = before;
}

/* Its own declaration has no parameters to hand on: with these the call becomes a jump, which leaves nothing on the
 * stack, as those need who make a new process this way. */
long syscall_hook(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

static long install_filter(long number, long a, long b, long c)
{
    bool before = sandbox_begin();
    long result = REAL(syscall)(number, a, b, c);
    sandbox_end(before, result != 0);
    return result;
}

__attribute__((visibility("default"))) long syscall_hook(long number, long a, long b, long c,
                                                         long d, long e, long f)
{
    typedef long function(long, long, long, long, long, long, long);
    if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
        return install_filter(number, a, b, c);
    return ((function *)real_function(REAL_INDEX_syscall))(number, a, b, c, d, e, f);
}
