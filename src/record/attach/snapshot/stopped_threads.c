/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/stopped_threads.h"

#include "base/clock.h"
#include "unwind/arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define POLL_NS 100000

/* PTRACE_SEIZE stops nothing and sends no SIGSTOP, so the parent of the thread sees no stop
 * (ptrace(2)). All threads are interrupted before the first is waited for: one instant. */
static void interrupt(struct stopped_thread *thread)
{
    thread->error = 0;
    if (ptrace(PTRACE_SEIZE, thread->tid, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0)
        thread->error = -errno;
    else
        thread->error = -ETIMEDOUT; /* until the stop is reported */
}

/* The stop may be the delivery of a signal (ptrace(2), signal-delivery-stop) instead of the
 * requested one. The signal is delivered at the end of the stop. */
static int signal_of_stop(int status)
{
    return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/* Whether the thread is still on its way into the stop. */
static bool is_pending(struct stopped_thread *thread)
{
    int status;
    if (thread->error != -ETIMEDOUT)
        return false;
    pid_t found = waitpid(thread->tid, &status, WNOHANG | __WALL);
    if (found == thread->tid) {
        thread->error = WIFSTOPPED(status) ? 0 : -ESRCH;
        thread->signal = WIFSTOPPED(status) ? signal_of_stop(status) : 0;
    }
    return found == 0;
}

static size_t count_pending(struct stopped_thread *threads, size_t count)
{
    size_t pending = 0;
    for (size_t i = 0; i < count; i++)
        pending += is_pending(&threads[i]);
    return pending;
}

void stopped_threads_stop(struct stopped_thread *threads, size_t count, uint64_t limit_ns)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    for (size_t i = 0; i < count; i++)
        interrupt(&threads[i]);
    const uint64_t end_ns = monotonic_ns() + limit_ns;
    while (count_pending(threads, count) > 0 && monotonic_ns() < end_ns)
        nanosleep(&pause, NULL);
}

bool stopped_thread_registers(const struct stopped_thread *thread, struct full_regs *regs)
{
    struct user_regs_struct user;
    struct iovec place = {&user, sizeof(user)};
    if (thread->error ||
        ptrace(PTRACE_GETREGSET, thread->tid, (void *)(uintptr_t)NT_PRSTATUS, &place) != 0 ||
        place.iov_len != sizeof(user))
        return false;
    *regs = arch_full_regs(&user);
    return true;
}

/* An abandoned thread cannot be detached; the end of this process resumes the thread. */
void stopped_threads_resume(struct stopped_thread *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (threads[i].error == 0)
            ptrace(PTRACE_DETACH, threads[i].tid, NULL, (void *)(intptr_t)threads[i].signal);
}
