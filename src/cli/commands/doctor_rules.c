/* SPDX-License-Identifier: MIT */
#include "cli/commands/doctor_rules.h"

#include "base/text/log.h"
#include "record/attach/access_rule.h"

#include <errno.h>
#include <stdio.h>

/* Whether the rule refuses such a process. */
static bool refuses(const struct own_rights *own, const struct target_facts *target,
                    enum access access, enum access_rule rule)
{
    const struct access_refusal refusal = {
        .own = own, .target = target, .access = access, .err = -EPERM};
    return access_rule_find(&refusal) == rule;
}

static struct target_facts process_of(uint32_t uid, uint32_t gid)
{
    return (struct target_facts){.pid = 1,
                                 .uids = {uid, uid, uid},
                                 .gids = {gid, gid, gid},
                                 .has_memory = true,
                                 .is_dumpable = true};
}

static void print_line(enum access_rule rule, const char *text)
{
    text_print(stdout, "%-14s %s\n", access_rule_name(rule), text);
}

static void print_user(const struct own_rights *own)
{
    struct target_facts other = process_of(own->uid + 1, own->gid);
    struct own_rights unlimited = *own; /* by other rules */
    unlimited.paranoid = unlimited.events_error = unlimited.memory_error = 0;
    bool events = refuses(&unlimited, &other, ACCESS_EVENTS, RULE_USER);
    bool memory = refuses(&unlimited, &other, ACCESS_MEMORY, RULE_USER);
    char text[160];
    snprintf(text, sizeof(text), "uid %u, gid %u: %s", (unsigned)own->uid, (unsigned)own->gid,
             events   ? "processes of other users are refused; lifted by root"
             : memory ? "processes of other users are recorded, but not read (rec stacks)"
             : own->is_in_namespace ? "processes of all users of the namespace"
                                    : "processes of all users");
    print_line(RULE_USER, text);
}

static void print_capabilities(const struct own_rights *own)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } capabilities[] = {{RIGHT_PERFMON, "CAP_PERFMON"},
                        {RIGHT_SYS_PTRACE, "CAP_SYS_PTRACE"},
                        {RIGHT_SYS_ADMIN, "CAP_SYS_ADMIN"},
                        {RIGHT_IPC_LOCK, "CAP_IPC_LOCK"}};
    char text[160] = "";
    size_t size = 0;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s %s", i ? ", " : "",
                                 capabilities[i].name,
                                 own->capabilities & capabilities[i].bit ? "yes" : "no");
    print_line(RULE_CAPABILITY, text);
}

/* Whether a rule that refuses is in force for rec at all: the strictest value decides. */
static bool has_effect(struct own_rights own, enum access access, enum access_rule rule)
{
    struct target_facts self = process_of(own.uid, own.gid);
    own.paranoid = 3;
    own.ptrace_scope = 2;
    own.events_error = own.memory_error = 0;
    return refuses(&own, &self, access, rule);
}

static void print_paranoid(const struct own_rights *own)
{
    static const char *const levels[] = {
        "own processes; all processes (-a) in user mode",
        "own processes; -a needs 0, or CAP_PERFMON",
        "own processes in user mode; --kernel needs 1 and -a 0, or CAP_PERFMON"};
    const char *permitted = own->paranoid < 0   ? "everything"
                            : own->paranoid < 3 ? levels[own->paranoid]
                                                : "nothing; needs 2, or CAP_PERFMON";
    char text[160];
    if (!has_effect(*own, ACCESS_EVENTS, RULE_PARANOID))
        permitted = "no effect with the capabilities of rec";
    snprintf(text, sizeof(text), "kernel.perf_event_paranoid is %d: %s", own->paranoid, permitted);
    print_line(RULE_PARANOID, text);
}

static void print_scope(const struct own_rights *own)
{
    char text[160];
    const char *permitted = own->ptrace_scope == 0  ? "no restriction"
                            : own->ptrace_scope > 2 ? "reads nothing until the next boot"
                            : own->ptrace_scope > 1 ? "reads nothing; needs 0, or CAP_SYS_PTRACE"
                                                    : "reads children only; others need 0, or "
                                                      "CAP_SYS_PTRACE";
    if (own->ptrace_scope > 0 && own->ptrace_scope <= 2 &&
        !has_effect(*own, ACCESS_MEMORY, RULE_PTRACE_SCOPE))
        permitted = "no effect with the capabilities of rec";
    snprintf(text, sizeof(text), "kernel.yama.ptrace_scope is %d: %s", own->ptrace_scope,
             permitted);
    print_line(RULE_PTRACE_SCOPE, text);
}

static void print_locked(const struct own_rights *own)
{
    char text[160];
    if (!refuses(own, NULL, ACCESS_EVENTS, RULE_LOCKED_MEMORY))
        snprintf(text, sizeof(text), "no limit for rings");
    else if (own->locked_bytes == UINT64_MAX)
        snprintf(text, sizeof(text), "no limit for rings");
    else
        snprintf(text, sizeof(text),
                 "rings of the user: %d KiB a processor (kernel.perf_event_mlock_kb) and %llu KiB "
                 "(ulimit -l)",
                 own->ring_kilobytes, (unsigned long long)(own->locked_bytes >> 10));
    print_line(RULE_LOCKED_MEMORY, text);
}

static void print_seccomp(const struct own_rights *own)
{
    const char *text = "no filter";
    if (own->has_filter && own->events_error && own->memory_error)
        text = "a filter forbids perf_event_open and process_vm_readv";
    else if (own->has_filter && own->events_error)
        text = "a filter forbids perf_event_open";
    else if (own->has_filter && own->memory_error)
        text = "a filter forbids process_vm_readv";
    else if (own->has_filter)
        text = "a filter, without effect on rec";
    print_line(RULE_SECCOMP, text);
}

static void print_namespace(const struct own_rights *own)
{
    char text[160];
    snprintf(text, sizeof(text), "%s; %s",
             own->is_in_namespace ? "a user namespace: capabilities have no effect outside"
                                  : "users of the machine",
             own->is_in_pid_namespace ? "a pid namespace: processes outside have no pid here"
                                      : "processes of the machine");
    print_line(RULE_NAMESPACE, text);
}

void doctor_rules_print(void)
{
    struct own_rights own = own_rights_read();
    print_user(&own);
    print_capabilities(&own);
    print_paranoid(&own);
    print_scope(&own);
    print_locked(&own);
    print_seccomp(&own);
    print_namespace(&own);
}
