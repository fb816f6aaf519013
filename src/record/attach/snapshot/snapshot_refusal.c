/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_refusal.h"

#include "base/files/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_ptrace_scope(void)
{
    struct buffer text = {0};
    int scope = 0;
    if (io_read_file("/proc/sys/kernel/yama/ptrace_scope", &text, 64) == 0) {
        buffer_u8(&text, 0);
        if (!text.failed)
            scope = (int)strtol((const char *)text.bytes, NULL, 10);
    }
    buffer_free(&text);
    return scope;
}

struct reader_facts reader_facts_read(void)
{
    return (struct reader_facts){
        .pid = getpid(), .uid = geteuid(), .ptrace_scope = read_ptrace_scope()};
}

int snapshot_refusal_check(const struct target_facts *facts, const struct reader_facts *reader,
                           pid_t pid, struct error *error)
{
    if (facts->pid == 0)
        return error_set(error, -ESRCH, "cannot read process %d: no such process", (int)pid);
    if (facts->pid == reader->pid)
        return error_set(error, -EINVAL, "cannot read process %d: rec itself", (int)pid);
    if (facts->pid != pid)
        return error_set(error, -ESRCH, "cannot read process %d: a thread of process %d; use -p %d",
                         (int)pid, (int)facts->pid, (int)facts->pid);
    if (facts->state == 'Z' && facts->threads <= 1)
        return error_set(error, -ESRCH,
                         "cannot read process %d (%s): a zombie, ended but not yet waited for",
                         (int)pid, facts->name);
    if (!facts->has_memory && facts->threads <= 1)
        return error_set(error, -EINVAL,
                         "cannot read process %d (%s): a kernel thread has no user code", (int)pid,
                         facts->name);
    return 0;
}

/* In the order in which the kernel checks (kernel/ptrace.c, __ptrace_may_access()). */
static int explain_permission(const struct target_facts *facts, const struct reader_facts *reader,
                              pid_t pid, int err, struct error *error)
{
    if (facts->uid != reader->uid)
        return error_set(error, err,
                         "cannot read process %d (%s): a process of another user (uid %u, rec has "
                         "%u); run rec as this user or as root",
                         (int)pid, facts->name, (unsigned)facts->uid, (unsigned)reader->uid);
    if (!facts->is_dumpable)
        return error_set(error, err,
                         "cannot read process %d (%s): not dumpable (set-user-id program, or prctl "
                         "PR_SET_DUMPABLE); run rec as root",
                         (int)pid, facts->name);
    if (reader->ptrace_scope > 0)
        return error_set(error, err,
                         "cannot read process %d (%s): kernel.yama.ptrace_scope is %d; set to 0, "
                         "or run rec as root",
                         (int)pid, facts->name, reader->ptrace_scope);
    return error_set(error, err,
                     "cannot read process %d (%s): %s; the process has more rights than rec "
                     "(capabilities, user namespace), run rec as root",
                     (int)pid, facts->name, strerror(-err));
}

int snapshot_refusal_explain(const struct target_facts *facts, const struct reader_facts *reader,
                             pid_t pid, int err, struct error *error)
{
    switch (err) {
    case -EACCES:
    case -EPERM:
        return explain_permission(facts, reader, pid, err, error);
    case -ESRCH:
    case -ENOENT:
        return error_set(error, err, "cannot read process %d (%s): ended meanwhile", (int)pid,
                         facts->name);
    case -ETIMEDOUT:
        return error_set(error, err,
                         "cannot read process %d (%s): no end within the time limit; a thread of "
                         "the process hangs in the kernel",
                         (int)pid, facts->name);
    default:
        return error_set(error, err, "cannot read process %d (%s): %s", (int)pid, facts->name,
                         strerror(-err));
    }
}
