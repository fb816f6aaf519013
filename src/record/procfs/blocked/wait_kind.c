/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/wait_kind.h"

static const char *const names[WAIT_KINDS] = {
    [WAIT_OTHER] = "system call",
    [WAIT_LOCK] = "lock",
    [WAIT_RWLOCK] = "read-write lock",
    [WAIT_CONDITION] = "condition variable",
    [WAIT_SEMAPHORE] = "semaphore",
    [WAIT_BARRIER] = "barrier",
    [WAIT_JOIN] = "join",
    [WAIT_ONCE] = "one-time initialization",
    [WAIT_FUTEX] = "futex",
    [WAIT_SLEEP] = "sleep",
    [WAIT_POLL] = "poll",
    [WAIT_READ] = "read",
    [WAIT_WRITE] = "write",
    [WAIT_RECEIVE] = "receive",
    [WAIT_SEND] = "send",
    [WAIT_ACCEPT] = "accept",
    [WAIT_CONNECT] = "connect",
    [WAIT_OPEN] = "open",
    [WAIT_CHILD] = "child",
    [WAIT_SIGNAL] = "signal",
    [WAIT_FILE_LOCK] = "file lock",
    [WAIT_MESSAGE] = "message",
    [WAIT_ASYNC_IO] = "asynchronous I/O",
    [WAIT_FAULT] = "page fault",
    [WAIT_DISK] = "disk",
    [WAIT_STOPPED] = "stopped",
    [WAIT_FROZEN] = "frozen",
    [WAIT_REC] = "rec",
};

const char *wait_kind_name(enum wait_kind kind)
{
    return names[kind];
}
