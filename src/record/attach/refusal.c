/* SPDX-License-Identifier: MIT */
#include "record/attach/refusal.h"

#include <errno.h>
#include <string.h>

/* Above, users without privileges get no events on processors. */
#define PARANOID_SYSTEM_MAX 0

int refusal_check(const struct target_facts *facts, const struct own_rights *own, pid_t id,
                  bool is_thread, struct error *error)
{
    const char *kind = is_thread ? "thread" : "process";
    if (facts->pid == 0)
        return error_set(error, -ESRCH, "cannot record %s %d: no such %s", kind, (int)id, kind);
    if (facts->pid == own->pid)
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

struct rule_text refusal_of_rec(enum access access, int err)
{
    struct own_rights own = own_rights_read();
    const struct access_refusal refusal = {.own = &own, .access = access, .err = err};
    return access_rule_explain(&refusal);
}

static struct rule_text rule_of(const struct own_rights *own, const struct target_facts *target,
                                int err)
{
    const struct access_refusal refusal = {
        .own = own, .target = target, .access = ACCESS_EVENTS, .err = err};
    return access_rule_explain(&refusal);
}

int refusal_explain_rings(const struct own_rights *own, int err, struct error *error)
{
    if (err == -EACCES || err == -EPERM || own->events_error)
        return error_set(error, err, "cannot open perf rings: %s", rule_of(own, NULL, err).text);
    return error_set(error, err, "cannot open perf rings: %s", strerror(-err));
}

int refusal_explain_system(const struct own_rights *own, int err, struct error *error)
{
    if (err != -EACCES && err != -EPERM)
        return error_set(error, err, "cannot record the whole system: %s", strerror(-err));
    if (own->events_error || err == -EPERM)
        return error_set(error, err, "cannot record the whole system: %s",
                         rule_of(own, NULL, err).text);
    return error_set(error, err,
                     "cannot record the whole system: kernel.perf_event_paranoid is %d; set to %d "
                     "or less, or run rec as root or with CAP_PERFMON",
                     own->paranoid, PARANOID_SYSTEM_MAX);
}

int refusal_explain(const struct target_facts *facts, const struct own_rights *own, pid_t id,
                    int err, struct error *error)
{
    const char *kind = id == facts->pid ? "process" : "thread";
    switch (err) {
    case -EACCES:
    case -EPERM:
    case -ENOSYS:
        return error_set(error, err, "cannot record %s %d (%s): %s", kind, (int)id, facts->name,
                         rule_of(own, facts, err).text);
    case -ESRCH:
        return error_set(error, err, "cannot record %s %d (%s): ended meanwhile", kind, (int)id,
                         facts->name);
    case -EMFILE:
    case -ENFILE:
        return error_set(error, err,
                         "cannot record %s %d (%s): %u threads need a descriptor each for every "
                         "processor; raise the limit of open files (ulimit -Hn)",
                         kind, (int)id, facts->name, facts->threads);
    default:
        return error_set(error, err, "cannot record %s %d (%s): %s", kind, (int)id, facts->name,
                         strerror(-err));
    }
}
