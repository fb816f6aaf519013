/* SPDX-License-Identifier: MIT */
/*
 * The kernel gives the rusage of an ended process to the process that waits for it, and to no
 * other. CPU time after the last sample, the teardown of the address space above all (0.2 ms of
 * gcc, 1.5 of a compiler), is visible to the launcher only before that wait. So the waiting process
 * writes the rusage of each child into its own memory; the launcher finds the child.
 *
 * The rusage includes children that the child itself has waited for, which the child states in its
 * own slot. system() and pclose() wait inside the C library: their child has no pid here.
 */
#include "sampler/process/rusage.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/exit_time.h"

#include <stddef.h>

static uint64_t usage_ns(const struct rusage *usage)
{
    uint64_t seconds = (uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec;
    uint64_t microseconds = (uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec;
    return seconds * 1000000000 + microseconds * 1000;
}

uint64_t rusage_of_children_ns(void)
{
    struct rusage usage = {0};
    own_syscall(CHILDREN_USAGE, RUSAGE_CHILDREN, &usage);
    return usage_ns(&usage);
}

/* pid 0: unknown. Async-signal-safe. */
static void note(uint32_t pid, uint64_t rusage_ns)
{
    uint32_t number = add_relaxed(&process.slot->children_waited, 1);
    struct waited_child *child = &process.memory->children[number % SESSION_CHILDREN];
    store_relaxed(&child->rusage_ns, rusage_ns);
    store_relaxed(&child->pid, pid);
    store_release(&child->number, number + 1); /* publishes the child */
}

void rusage_note_waited(uint64_t before_ns)
{
    if (!process_is_followed() || seccomp_forbids(CALL_BIT(CHILDREN_USAGE)))
        return;
    uint64_t children_ns = rusage_of_children_ns();
    store_relaxed(&process.slot->children_ns, children_ns);
    if (children_ns > before_ns)
        note(0, children_ns - before_ns);
}

static void note_child(pid_t pid, const struct rusage *usage)
{
    uint64_t rusage_ns = usage_ns(usage);
    add_relaxed(&process.slot->children_ns, rusage_ns);
    note((uint32_t)pid, rusage_ns);
    account_note(); /* programs that end by _exit() wait for their children before */
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    if (!process_is_followed())
        return NEXT(wait4)(pid, status, options, usage);
    struct rusage own_usage;
    int own_status;
    if (!usage)
        usage = &own_usage;
    if (!status)
        status = &own_status;
    pid = NEXT(wait4)(pid, status, options, usage);
    if (pid > 0 && !WIFSTOPPED(*status) && !WIFCONTINUED(*status))
        note_child(pid, usage);
    return pid;
}

static bool is_end(const siginfo_t *info)
{
    return info->si_pid > 0 && (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
                                info->si_code == CLD_DUMPED);
}

/* The system call has a fifth argument, absent in the C library's function. The thread may be
 * cancelled during the wait. */
int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (!process_is_followed() || options & WNOWAIT)
        return NEXT(waitid)(type, id, info, options);
    struct rusage usage;
    siginfo_t own_info = {0};
    int cancelling;
    if (!info)
        info = &own_info;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &cancelling);
    long result = raw_syscall(SYS_waitid, type, id, info, options, &usage);
    pthread_setcanceltype(cancelling, &cancelling);
    if (raw_failed(result))
        return raw_told(result);
    if (is_end(info))
        note_child(info->si_pid, &usage);
    return 0;
}

/* The same system call in the C library. */
pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait4(pid, status, options, NULL);
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

pid_t wait(int *status)
{
    return wait4(-1, status, 0, NULL);
}

int pclose(FILE *file)
{
    uint64_t before_ns = rusage_of_children_ns();
    int status = NEXT(pclose)(file);
    rusage_note_waited(before_ns);
    return status;
}
