/* SPDX-License-Identifier: MIT */
/* The restart of interrupted system calls. The sampler's handler has SA_RESTART, the program's
 * handler for the same signal may lack the flag: after such a handler, the call ends with EINTR.
 * The list has the calls restarted with SA_RESTART alone: fork and FUTEX_LOCK_PI restart after
 * every signal, with the same registers. */
#include "sampler/signals/syscall_restart.h"

#include "sampler/arch/arch.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>

static const uint16_t restarted[] = {
    SYS_read,     SYS_readv,   SYS_write,  SYS_writev,          SYS_ioctl,        SYS_open,
    SYS_openat,   SYS_wait4,   SYS_waitid, SYS_accept,          SYS_accept4,      SYS_connect,
    SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg,         SYS_recvmmsg,     SYS_sendmmsg,
    SYS_flock,    SYS_fcntl,   SYS_splice, SYS_mq_timedreceive, SYS_mq_timedsend, SYS_getrandom,
};

static bool is_futex_wait(uint64_t operation)
{
    int command = (int)operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

static bool needs_flag(long number, const ucontext_t *interrupted)
{
    for (size_t i = 0; i < sizeof(restarted) / sizeof(restarted[0]); i++)
        if (number == restarted[i])
            return true;
    return number == SYS_futex && is_futex_wait(arch_syscall_second(interrupted));
}

void syscall_restart_cancel(ucontext_t *interrupted)
{
    long number = arch_restarted_syscall(interrupted);
    if (number >= 0 && needs_flag(number, interrupted))
        arch_end_syscall(interrupted, -EINTR);
}
