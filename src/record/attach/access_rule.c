/* SPDX-License-Identifier: MIT */
/*
 * The rules in the order of the kernel's checks: the first rule that applies has refused.
 *
 *     rec itself      seccomp, security modules: the call fails on rec's own process, too
 *     events          kernel.perf_event_paranoid
 *     the target      user and group ids, dumpable, capabilities, Yama: ptrace(2), "Ptrace access
 *                     mode checking"; in another user namespace, rec's capabilities have no effect
 *     rings           locked memory
 *
 * The rules about the target are lifted by a capability (is_lifted()).
 */
#include "record/attach/access_rule.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Above, users without privileges get no events on processes. */
#define PARANOID_MAX 2

struct rule {
    const char *name;
    bool (*applies)(const struct access_refusal *refusal);
    struct rule_text (*explain)(const struct access_refusal *refusal);
};

__attribute__((format(printf, 1, 2))) static struct rule_text text_of(const char *format, ...)
{
    struct rule_text text;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text.text, sizeof(text.text), format, arguments);
    va_end(arguments);
    return text;
}

/* The kernel checks the capabilities of perf in the user namespace of the machine
 * (perfmon_capable()). */
static bool may_all_events(const struct own_rights *own)
{
    return !own->is_in_namespace && (own->capabilities & (RIGHT_PERFMON | RIGHT_SYS_ADMIN));
}

/* The capability that lifts the rules about processes. */
static bool has_capability(const struct access_refusal *refusal)
{
    return (refusal->own->capabilities & RIGHT_SYS_PTRACE) ||
           (refusal->access == ACCESS_EVENTS && may_all_events(refusal->own));
}

static bool is_foreign(const struct access_refusal *refusal)
{
    return refusal->target && refusal->target->is_in_other_namespace;
}

static bool is_lifted(const struct access_refusal *refusal)
{
    return !refusal->target || (has_capability(refusal) && !is_foreign(refusal));
}

static bool is_any_other(const struct task_ids *ids, uint32_t id)
{
    return ids->real != id || ids->effective != id || ids->saved != id;
}

static uint32_t first_other(const struct task_ids *ids, uint32_t id)
{
    return ids->effective != id ? ids->effective : ids->real != id ? ids->real : ids->saved;
}

/* In place of "run rec as root" where rec is root already. */
static const char *as_root(const struct own_rights *own)
{
    return own->uid == 0 ? "with CAP_SYS_PTRACE" : "as root";
}

/* seccomp: filters of containers, of service managers, and of the user. */

static const char *call_of(enum access access)
{
    return access == ACCESS_EVENTS ? "perf_event_open" : "process_vm_readv";
}

static bool seccomp_applies(const struct access_refusal *refusal)
{
    int err =
        refusal->access == ACCESS_EVENTS ? refusal->own->events_error : refusal->own->memory_error;
    return err && refusal->own->has_filter;
}

static struct rule_text seccomp_explain(const struct access_refusal *refusal)
{
    return text_of("a seccomp filter forbids %s for rec; run rec outside of the container, or with "
                   "a profile that permits the call",
                   call_of(refusal->access));
}

static bool paranoid_applies(const struct access_refusal *refusal)
{
    return refusal->access == ACCESS_EVENTS && refusal->own->paranoid > PARANOID_MAX &&
           !may_all_events(refusal->own);
}

static struct rule_text paranoid_explain(const struct access_refusal *refusal)
{
    return text_of("kernel.perf_event_paranoid is %d; set to %d or less, or run rec with "
                   "CAP_PERFMON",
                   refusal->own->paranoid, PARANOID_MAX);
}

static bool module_applies(const struct access_refusal *refusal)
{
    return refusal->access == ACCESS_EVENTS ? refusal->own->events_error
                                            : refusal->own->memory_error;
}

static struct rule_text module_explain(const struct access_refusal *refusal)
{
    if (refusal->err == -ENOSYS)
        return text_of("the kernel has no %s", call_of(refusal->access));
    return text_of("%s fails for rec itself (%s): a security module", call_of(refusal->access),
                   strerror(-refusal->err));
}

static bool namespace_applies(const struct access_refusal *refusal)
{
    const struct own_rights *own = refusal->own;
    const struct target_facts *target = refusal->target;
    return is_foreign(refusal) && (has_capability(refusal) ||
                                   (!is_any_other(&target->uids, own->uid) &&
                                    !is_any_other(&target->gids, own->gid) && target->is_dumpable));
}

static struct rule_text namespace_explain(const struct access_refusal *refusal)
{
    return text_of("a process of another user namespace, where %s; run rec %s",
                   refusal->own->capabilities ? "the capabilities of rec have no effect"
                                              : "the process has capabilities",
                   refusal->own->is_in_namespace ? "outside of its namespace"
                                                 : "in this namespace, or as root");
}

static bool user_applies(const struct access_refusal *refusal)
{
    return !is_lifted(refusal) && is_any_other(&refusal->target->uids, refusal->own->uid);
}

static struct rule_text user_explain(const struct access_refusal *refusal)
{
    const struct own_rights *own = refusal->own;
    return text_of("a process of another user (uid %u, rec has %u); run rec as this user or %s",
                   first_other(&refusal->target->uids, own->uid), (unsigned)own->uid, as_root(own));
}

static bool group_applies(const struct access_refusal *refusal)
{
    return !is_lifted(refusal) && is_any_other(&refusal->target->gids, refusal->own->gid);
}

static struct rule_text group_explain(const struct access_refusal *refusal)
{
    const struct own_rights *own = refusal->own;
    return text_of("a process of another group (gid %u, rec has %u); run rec with this group or %s",
                   first_other(&refusal->target->gids, own->gid), (unsigned)own->gid, as_root(own));
}

static bool dumpable_applies(const struct access_refusal *refusal)
{
    return !is_lifted(refusal) && !refusal->target->is_dumpable;
}

static struct rule_text dumpable_explain(const struct access_refusal *refusal)
{
    return text_of("not dumpable (set-user-id program, or prctl PR_SET_DUMPABLE); run rec %s",
                   as_root(refusal->own));
}

static bool capability_applies(const struct access_refusal *refusal)
{
    return !is_lifted(refusal) && (refusal->target->capabilities & ~refusal->own->capabilities);
}

static struct rule_text capability_explain(const struct access_refusal *refusal)
{
    uint64_t more = refusal->target->capabilities & ~refusal->own->capabilities;
    return text_of("the process has capabilities that rec lacks (set %llx of CapPrm); run rec %s",
                   (unsigned long long)more, as_root(refusal->own));
}

/* Documentation/admin-guide/LSM/Yama.rst: 1, descendants only; 2, CAP_SYS_PTRACE only; 3, none
 * until the next boot. */
static bool scope_applies(const struct access_refusal *refusal)
{
    int scope = refusal->own->ptrace_scope;
    return refusal->access == ACCESS_MEMORY && scope > 0 && (scope > 2 || !is_lifted(refusal));
}

static struct rule_text scope_explain(const struct access_refusal *refusal)
{
    int scope = refusal->own->ptrace_scope;
    if (scope > 2)
        return text_of("kernel.yama.ptrace_scope is %d, which forbids every process to read "
                       "another; boot with a lower value",
                       scope);
    return text_of("kernel.yama.ptrace_scope is %d; set to 0, or run rec %s", scope,
                   as_root(refusal->own));
}

/* perf_mmap(): above the limit only with CAP_IPC_LOCK, or with a negative level. */
static bool locked_applies(const struct access_refusal *refusal)
{
    const struct own_rights *own = refusal->own;
    return refusal->access == ACCESS_EVENTS && refusal->err == -EPERM && own->paranoid >= 0 &&
           (own->is_in_namespace || !(own->capabilities & RIGHT_IPC_LOCK));
}

static struct rule_text locked_explain(const struct access_refusal *refusal)
{
    return text_of("the recordings of this user have used up the locked memory for rings (%d KiB a "
                   "processor, kernel.perf_event_mlock_kb, and %llu KiB); raise the limit of "
                   "locked memory (ulimit -l), or run rec as root",
                   refusal->own->ring_kilobytes,
                   (unsigned long long)(refusal->own->locked_bytes >> 10));
}

static bool always(const struct access_refusal *refusal)
{
    return refusal != NULL;
}

static struct rule_text unknown_explain(const struct access_refusal *refusal)
{
    if (has_capability(refusal))
        return text_of("%s: a security module refuses, although rec has the capability",
                       strerror(-refusal->err));
    return text_of("%s; the process has more rights than rec, or a security module refuses; run "
                   "rec %s",
                   strerror(-refusal->err), as_root(refusal->own));
}

static const struct rule rules[ACCESS_RULES] = {
    [RULE_SECCOMP] = {"seccomp", seccomp_applies, seccomp_explain},
    [RULE_PARANOID] = {"paranoid level", paranoid_applies, paranoid_explain},
    [RULE_SECURITY_MODULE] = {"security module", module_applies, module_explain},
    [RULE_NAMESPACE] = {"namespace", namespace_applies, namespace_explain},
    [RULE_USER] = {"user", user_applies, user_explain},
    [RULE_GROUP] = {"group", group_applies, group_explain},
    [RULE_DUMPABLE] = {"dumpable", dumpable_applies, dumpable_explain},
    [RULE_CAPABILITY] = {"capabilities", capability_applies, capability_explain},
    [RULE_PTRACE_SCOPE] = {"ptrace scope", scope_applies, scope_explain},
    [RULE_LOCKED_MEMORY] = {"locked memory", locked_applies, locked_explain},
    [RULE_UNKNOWN] = {"other", always, unknown_explain},
};

enum access_rule access_rule_find(const struct access_refusal *refusal)
{
    enum access_rule rule = 0;
    while (!rules[rule].applies(refusal))
        rule++;
    return rule;
}

struct rule_text access_rule_explain(const struct access_refusal *refusal)
{
    return rules[access_rule_find(refusal)].explain(refusal);
}

const char *access_rule_name(enum access_rule rule)
{
    return rules[rule].name;
}
