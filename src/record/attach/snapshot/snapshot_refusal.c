/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_refusal.h"

#include <errno.h>
#include <string.h>

int snapshot_refusal_check(const struct target_facts *facts, pid_t own_pid, pid_t pid,
                           struct error *error)
{
    if (facts->pid == 0)
        return error_set(error, -ESRCH, "cannot read process %d: no such process", (int)pid);
    if (facts->pid == own_pid)
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

static int explain_permission(const struct target_facts *facts, const struct own_rights *own,
                              pid_t pid, int err, struct error *error)
{
    const struct access_refusal refusal = {
        .own = own, .target = facts, .access = ACCESS_MEMORY, .err = err};
    return error_set(error, err, "cannot read process %d (%s): %s", (int)pid, facts->name,
                     access_rule_explain(&refusal).text);
}

int snapshot_refusal_explain(const struct target_facts *facts, const struct own_rights *own,
                             pid_t pid, int err, struct error *error)
{
    switch (err) {
    case -EACCES:
    case -EPERM:
        return explain_permission(facts, own, pid, err, error);
    case -ESRCH:
    case -ENOENT:
        return error_set(error, err, "cannot read process %d (%s): ended meanwhile", (int)pid,
                         facts->name);
    case -ETIMEDOUT:
        return error_set(error, err,
                         "cannot read process %d (%s): no end within the time limit; a thread of "
                         "the process hangs in the kernel, or the machine is overloaded "
                         "(--timeout TIME)",
                         (int)pid, facts->name);
    default:
        return error_set(error, err, "cannot read process %d (%s): %s", (int)pid, facts->name,
                         strerror(-err));
    }
}
