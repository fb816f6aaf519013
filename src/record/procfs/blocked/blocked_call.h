/* SPDX-License-Identifier: MIT */
/* Parses /proc/PID/task/TID/syscall and schedstat (proc(5)). The kernel checks that the thread
 * stayed off the processor while the kernel read its registers (fs/proc/base.c,
 * collect_syscall()). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum call_state {
    CALL_RUNNING,   /* on a processor, or runnable */
    CALL_WAITING,   /* in a system call */
    CALL_FAULTING,  /* in the kernel without a system call: page fault, stop */
    CALL_STACKLESS, /* a kernel thread, or a thread without memory any more */
};

struct blocked_call {
    enum call_state state;
    uint64_t number; /* CALL_WAITING, as are the arguments */
    uint64_t arguments[6];
    uint64_t sp, pc; /* CALL_WAITING and CALL_FAULTING */
};

/* False: malformed. */
bool blocked_call_parse(struct blocked_call *call, const char *text);

struct run_account {
    uint64_t cpu_ns, delay_ns; /* on a processor; runnable without a processor */
    uint64_t turns;            /* number of times the thread got a processor */
    uint64_t read_ns;          /* end of the read, CLOCK_MONOTONIC */
};

/* Without read_ns. */
bool run_account_parse(struct run_account *account, const char *text);
