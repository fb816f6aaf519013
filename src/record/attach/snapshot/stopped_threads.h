/* SPDX-License-Identifier: MIT */
/*
 * Stops threads by ptrace, for one instant of a whole process. The end of the calling process, also
 * by SIGKILL, resumes the threads. A thread in vfork() does not stop before the end of the child;
 * such threads are abandoned after a time limit.
 */
#pragma once

#include "unwind/registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stopped_thread {
    pid_t tid;
    int error; /* 0: stopped; -EPERM: traced by another process; -ETIMEDOUT: did not stop; -ESRCH */
    int signal; /* interrupted in its delivery by the stop; 0: none */
};

/* tid is set by the caller. */
void stopped_threads_stop(struct stopped_thread *threads, size_t count, uint64_t limit_ns);
/* False: the registers are of another machine (32-bit program), or unreadable. */
bool stopped_thread_registers(const struct stopped_thread *thread, struct full_regs *regs);
void stopped_threads_resume(struct stopped_thread *threads, size_t count);
