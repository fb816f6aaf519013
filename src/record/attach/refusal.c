/* SPDX-License-Identifier: MIT */
#include "record/attach/refusal.h"

#include "base/files/io.h"
#include "record/launch/perf_event.h"
#include "record/procfs/sysctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above, users without privileges get no events on processes. */
#define PARANOID_MAX 2
/* Above, users without privileges get no events on processors. */
#define PARANOID_SYSTEM_MAX 0

/* The bit of a capability (linux/capability.h) in the effective set of /proc/self/status. */
static bool has_capability(unsigned number)
{
    struct buffer text = {0};
    uint64_t set = 0;
    if (io_read_file("/proc/self/status", &text, 65536) == 0)
        buffer_append(&text, "", 1);
    const char *line =
        text.size && !text.failed ? strstr((const char *)text.bytes, "CapEff:") : NULL;
    if (line)
        set = strtoull(line + strlen("CapEff:"), NULL, 16);
    buffer_free(&text);
    return set >> number & 1;
}

struct observer_facts observer_facts_read(void)
{
    enum { SYS_ADMIN = 21, PERFMON = 38 };
    int fd = perf_event_probe();
    if (fd >= 0)
        close(fd);
    return (struct observer_facts){.pid = getpid(),
                                   .uid = geteuid(),
                                   .paranoid = sysctl_kernel_read("perf_event_paranoid", 0),
                                   .own_error = fd < 0 ? fd : 0,
                                   .may_others =
                                       has_capability(PERFMON) || has_capability(SYS_ADMIN)};
}

int refusal_check(const struct target_facts *facts, const struct observer_facts *observer, pid_t id,
                  bool is_thread, struct error *error)
{
    const char *kind = is_thread ? "thread" : "process";
    if (facts->pid == 0)
        return error_set(error, -ESRCH, "cannot record %s %d: no such %s", kind, (int)id, kind);
    if (facts->pid == observer->pid)
        return error_set(error, -EINVAL, "cannot record %s %d: rec cannot record itself", kind,
                         (int)id);
    if (!is_thread && facts->pid != id)
        return error_set(error, -ESRCH,
                         "cannot record process %d: a thread of process %d; use -t %d", (int)id,
                         (int)facts->pid, (int)id);
    bool has_others = !is_thread && facts->threads > 1;
    if (facts->state == 'Z' && !has_others)
        return error_set(error, -ESRCH,
                         "cannot record %s %d (%s): a zombie, ended but not yet waited for", kind,
                         (int)id, facts->name);
    if (!facts->has_memory && !has_others)
        return error_set(error, -EINVAL,
                         "cannot record %s %d (%s): a kernel thread has no user code", kind,
                         (int)id, facts->name);
    return 0;
}

/* EACCES and EPERM, in the order in which the kernel checks. */
static int explain_permission(const struct target_facts *facts,
                              const struct observer_facts *observer, pid_t id, int err,
                              struct error *error)
{
    if (observer->paranoid > PARANOID_MAX && !observer->may_others)
        return error_set(error, err,
                         "cannot record %d (%s): kernel.perf_event_paranoid is %d; set to %d or "
                         "less, or run rec with CAP_PERFMON",
                         (int)id, facts->name, observer->paranoid, PARANOID_MAX);
    if (observer->own_error)
        return error_set(error, err,
                         "cannot record %d (%s): perf events are forbidden for rec (seccomp filter "
                         "of a container, or a security module)",
                         (int)id, facts->name);
    if (facts->uid != observer->uid)
        return error_set(error, err,
                         "cannot record %d (%s): a process of another user (uid %u, rec has %u); "
                         "run rec as this user or as root",
                         (int)id, facts->name, (unsigned)facts->uid, (unsigned)observer->uid);
    if (!facts->is_dumpable)
        return error_set(error, err,
                         "cannot record %d (%s): not dumpable (set-user-id program, or prctl "
                         "PR_SET_DUMPABLE); run rec as root",
                         (int)id, facts->name);
    return error_set(error, err,
                     "cannot record %d (%s): %s; the process has more rights than rec "
                     "(capabilities, user namespace), run rec as root",
                     (int)id, facts->name, strerror(-err));
}

int refusal_explain_system(const struct observer_facts *observer, int err, struct error *error)
{
    if (err != -EACCES && err != -EPERM)
        return error_set(error, err, "cannot record the whole system: %s", strerror(-err));
    if (observer->own_error)
        return error_set(error, err,
                         "cannot record the whole system: perf events are forbidden for rec "
                         "(seccomp filter of a container, or a security module)");
    return error_set(error, err,
                     "cannot record the whole system: kernel.perf_event_paranoid is %d; set to %d "
                     "or less, or run rec as root or with CAP_PERFMON",
                     observer->paranoid, PARANOID_SYSTEM_MAX);
}

int refusal_explain(const struct target_facts *facts, const struct observer_facts *observer,
                    pid_t id, int err, struct error *error)
{
    switch (err) {
    case -EACCES:
    case -EPERM:
        return explain_permission(facts, observer, id, err, error);
    case -ESRCH:
        return error_set(error, err, "cannot record %d (%s): ended meanwhile", (int)id,
                         facts->name);
    case -EMFILE:
    case -ENFILE:
        return error_set(error, err,
                         "cannot record %d (%s): %u threads need a descriptor each for every "
                         "processor; raise the limit of open files (ulimit -Hn)",
                         (int)id, facts->name, facts->threads);
    case -ENOSYS:
        return error_set(error, err,
                         "cannot record %d (%s): no perf events here (kernel without "
                         "perf_event_open, or a seccomp filter)",
                         (int)id, facts->name);
    default:
        return error_set(error, err, "cannot record %d (%s): %s", (int)id, facts->name,
                         strerror(-err));
    }
}
