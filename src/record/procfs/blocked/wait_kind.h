/* SPDX-License-Identifier: MIT */
/* What a thread waits for. */
#pragma once

enum wait_kind {
    WAIT_OTHER, /* a system call without a kind of its own */
    WAIT_LOCK,
    WAIT_RWLOCK,
    WAIT_CONDITION,
    WAIT_SEMAPHORE,
    WAIT_BARRIER,
    WAIT_JOIN,
    WAIT_ONCE,
    WAIT_FUTEX, /* a futex of unknown use */
    WAIT_SLEEP,
    WAIT_POLL,
    WAIT_READ,
    WAIT_WRITE,
    WAIT_RECEIVE,
    WAIT_SEND,
    WAIT_ACCEPT,
    WAIT_CONNECT,
    WAIT_OPEN,
    WAIT_CHILD,
    WAIT_SIGNAL,
    WAIT_FILE_LOCK,
    WAIT_MESSAGE,
    WAIT_ASYNC_IO,
    WAIT_FAULT,   /* a page fault */
    WAIT_DISK,    /* uninterruptible: state D */
    WAIT_STOPPED, /* by a signal or a debugger */
    WAIT_FROZEN,  /* by a cgroup */
    WAIT_REC,     /* the sampler, for rec: at the start of a process */
    WAIT_KINDS,
};

/* "lock", "condition variable", … */
const char *wait_kind_name(enum wait_kind kind);
