/* SPDX-License-Identifier: MIT */
/*
 * System calls that block (man pages of section 2): the kind of the wait, and the place of the
 * descriptor among the arguments, -1 without one. The kind of all other calls is "system call".
 */
#include "record/procfs/blocked/wait_calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define CALL(name_, kind_, descriptor_)                                                   \
    {                                                                                     \
        .number = SYS_##name_, .name = #name_, .kind = kind_, .descriptor = (descriptor_) \
    }

static const struct wait_call calls[] = {
    CALL(futex, WAIT_FUTEX, -1),
    CALL(nanosleep, WAIT_SLEEP, -1),
    CALL(clock_nanosleep, WAIT_SLEEP, -1),
    CALL(poll, WAIT_POLL, -1),
    CALL(ppoll, WAIT_POLL, -1),
    CALL(select, WAIT_POLL, -1),
    CALL(pselect6, WAIT_POLL, -1),
    CALL(epoll_wait, WAIT_POLL, 0),
    CALL(epoll_pwait, WAIT_POLL, 0),
    CALL(epoll_pwait2, WAIT_POLL, 0),
    CALL(read, WAIT_READ, 0),
    CALL(readv, WAIT_READ, 0),
    CALL(pread64, WAIT_READ, 0),
    CALL(preadv, WAIT_READ, 0),
    CALL(preadv2, WAIT_READ, 0),
    CALL(write, WAIT_WRITE, 0),
    CALL(writev, WAIT_WRITE, 0),
    CALL(pwrite64, WAIT_WRITE, 0),
    CALL(pwritev, WAIT_WRITE, 0),
    CALL(pwritev2, WAIT_WRITE, 0),
    CALL(sendfile, WAIT_WRITE, 0),
    CALL(splice, WAIT_READ, 0),
    CALL(fsync, WAIT_WRITE, 0),
    CALL(fdatasync, WAIT_WRITE, 0),
    CALL(recvfrom, WAIT_RECEIVE, 0),
    CALL(recvmsg, WAIT_RECEIVE, 0),
    CALL(recvmmsg, WAIT_RECEIVE, 0),
    CALL(sendto, WAIT_SEND, 0),
    CALL(sendmsg, WAIT_SEND, 0),
    CALL(sendmmsg, WAIT_SEND, 0),
    CALL(accept, WAIT_ACCEPT, 0),
    CALL(accept4, WAIT_ACCEPT, 0),
    CALL(connect, WAIT_CONNECT, 0),
    CALL(open, WAIT_OPEN, -1),
    CALL(openat, WAIT_OPEN, -1),
    CALL(wait4, WAIT_CHILD, -1),
    CALL(waitid, WAIT_CHILD, -1),
    CALL(vfork, WAIT_CHILD, -1),
    CALL(clone, WAIT_CHILD, -1),
    CALL(clone3, WAIT_CHILD, -1),
    CALL(pause, WAIT_SIGNAL, -1),
    CALL(rt_sigsuspend, WAIT_SIGNAL, -1),
    CALL(rt_sigtimedwait, WAIT_SIGNAL, -1),
    CALL(flock, WAIT_FILE_LOCK, 0),
    CALL(fcntl, WAIT_FILE_LOCK, 0),
    CALL(msgrcv, WAIT_MESSAGE, -1),
    CALL(msgsnd, WAIT_MESSAGE, -1),
    CALL(mq_timedreceive, WAIT_MESSAGE, 0),
    CALL(mq_timedsend, WAIT_MESSAGE, 0),
    CALL(semop, WAIT_SEMAPHORE, -1),
    CALL(semtimedop, WAIT_SEMAPHORE, -1),
    CALL(io_getevents, WAIT_ASYNC_IO, -1),
    CALL(io_uring_enter, WAIT_ASYNC_IO, 0),
    CALL(ioctl, WAIT_OTHER, 0),
    CALL(restart_syscall, WAIT_OTHER, -1),
};

const struct wait_call *wait_call_find(uint64_t number)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}
