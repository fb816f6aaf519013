/* SPDX-License-Identifier: MIT */
/*
 * The kernel's bill of a process that has ended goes to whoever waits for it, and to nobody else. What it used
 * after its last sample, the taking down of its address space above all (0.2 ms of gcc, 1.5 of a compiler),
 * the launcher finds only if it looks before that. So the bill is passed on:
 *
 * It holds those that the child has waited for itself, which it says in its own slot.
 *
 * The calls that wait make no system call more for that: a sandbox may kill for one. Only system() and pclose(),
 * which wait inside the C library and do not say for whom, need some to find that out.
 */
#include "sampler/process/rusage.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

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

/* The kernel names a child as it is called in its parent's pid namespace. */
static bool is_called(uint32_t index, uint32_t pid)
{
    uint32_t here = load_relaxed(&process.verdict->namespace);
    const struct process_verdict *verdict = &process.tables->verdicts[index];
    if (load_relaxed(&verdict->namespace) == here)
        return load_relaxed(&process.rings->processes[index].pid) == pid;
    return load_relaxed(&verdict->parents_namespace) == here &&
           load_relaxed(&verdict->pid_for_parent) == pid;
}

/* A child that has executed several programs has several slots until the launcher gives them back. */
static void pass_on(uint32_t pid, uint64_t bill_ns)
{
    uint32_t used = load_acquire(&process.rings->header.processes_used);
    for (uint32_t i = 0; i < used && i < SESSION_PROCESSES; i++) {
        struct process_slot *slot = &process.rings->processes[i];
        if (load_acquire(&slot->state) == PROCESS_ANSWERED && is_called(i, pid))
            store_release(&slot->bill_ns, bill_ns);
    }
}

/* A child that nobody has passed on yet, and that is gone: 0 when there is none. */
static uint32_t find_gone_child(void)
{
    uint32_t used = load_acquire(&process.rings->header.processes_used);
    for (uint32_t i = 0; i < used && i < SESSION_PROCESSES; i++) {
        const struct process_slot *slot = &process.rings->processes[i];
        if (load_acquire(&slot->state) == PROCESS_ANSWERED && load_relaxed(&slot->bill_ns) == 0 &&
            load_relaxed(&slot->parent_pid) == process.slot->pid &&
            is_called(i, load_relaxed(&slot->pid)) &&
            own_syscall(EXISTS, load_relaxed(&slot->pid), 0) == -ESRCH)
            return load_relaxed(&slot->pid);
    }
    return 0;
}

void rusage_note_waited(uint64_t before_ns)
{
    if (!process_is_followed() || seccomp_forbids(CALL_BIT(CHILDREN_USAGE)))
        return;
    uint64_t children_ns = rusage_of_children_ns();
    store_relaxed(&process.slot->children_ns, children_ns);
    uint32_t pid = find_gone_child();
    if (pid)
        pass_on(pid, children_ns - before_ns);
}

static void note(pid_t pid, const struct rusage *usage)
{
    uint64_t bill_ns = usage_ns(usage);
    add_relaxed(&process.slot->children_ns, bill_ns);
    pass_on((uint32_t)pid, bill_ns);
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
        note(pid, usage);
    return pid;
}

static bool is_end(const siginfo_t *info)
{
    return info->si_pid > 0 && (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
                                info->si_code == CLD_DUMPED);
}

/* The kernel's has a fifth argument, which the C library does not hand on. While it waits the thread may be cancelled. */
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
        note(info->si_pid, &usage);
    return 0;
}

/* The C library's own are the same system call. */
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
