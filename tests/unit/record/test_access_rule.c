/* SPDX-License-Identifier: MIT */
/* Each rule of the kernel for access to processes, by made-up facts: the rule that refuses, what lifts the rule, and the
 * capabilities that lift it. */
#include "record/attach/access_rule.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct own_rights user = {.pid = 50, .uid = 1000, .gid = 1000, .paranoid = 2};
static const struct own_rights root = {.pid = 50, .paranoid = 2, .capabilities = UINT64_MAX};
static const struct target_facts process = {.name = "busy",
                                            .pid = 77,
                                            .uids = {1000, 1000, 1000},
                                            .gids = {1000, 1000, 1000},
                                            .threads = 1,
                                            .has_memory = true,
                                            .is_dumpable = true};

static enum access_rule find(const struct own_rights *own, const struct target_facts *target,
                             enum access access)
{
    const struct access_refusal refusal = {
        .own = own, .target = target, .access = access, .err = -EACCES};
    return access_rule_find(&refusal);
}

static void assert_both(const struct own_rights *own, const struct target_facts *target,
                        enum access_rule rule)
{
    assert_int_equal(find(own, target, ACCESS_EVENTS), rule);
    assert_int_equal(find(own, target, ACCESS_MEMORY), rule);
}

static void assert_text(const struct own_rights *own, const struct target_facts *target,
                        enum access access, int err, const char *part)
{
    const struct access_refusal refusal = {
        .own = own, .target = target, .access = access, .err = err};
    struct rule_text rule = access_rule_explain(&refusal);
    if (!strstr(rule.text, part))
        fail_msg("'%s' is not in '%s'", part, rule.text);
}

static void any_other_id_of_a_user_or_group_refuses(void **state)
{
    (void)state;
    struct target_facts target = process;
    assert_both(&user, &target, RULE_UNKNOWN);
    target.uids.real = 5;
    assert_both(&user, &target, RULE_USER);
    assert_text(&user, &target, ACCESS_MEMORY, -EPERM, "another user (uid 5, rec has 1000)");
    target.uids = (struct task_ids){1000, 1000, 0};
    assert_both(&user, &target, RULE_USER);
    target = process;
    target.gids.saved = 7;
    assert_both(&user, &target, RULE_GROUP);
    assert_text(&user, &target, ACCESS_EVENTS, -EPERM, "another group (gid 7, rec has 1000)");
}

static void root_without_the_capability_is_not_told_to_be_root(void **state)
{
    (void)state;
    struct own_rights own = root;
    own.capabilities = 0;
    assert_text(&own, &process, ACCESS_MEMORY, -EPERM,
                "run rec as this user or with CAP_SYS_PTRACE");
    assert_text(&user, &(struct target_facts){.is_dumpable = true}, ACCESS_MEMORY, -EPERM,
                "run rec as this user or as root");
}

static void capabilities_lift_rules_about_processes(void **state)
{
    (void)state;
    struct own_rights own = user;
    struct target_facts target = process;
    target.uids.effective = 0;
    target.is_dumpable = false;
    target.capabilities = 1;
    own.capabilities = RIGHT_SYS_PTRACE;
    assert_both(&own, &target, RULE_UNKNOWN);
    own.capabilities = RIGHT_PERFMON;
    assert_int_equal(find(&own, &target, ACCESS_EVENTS), RULE_UNKNOWN);
    assert_int_equal(find(&own, &target, ACCESS_MEMORY), RULE_USER);
}

static void dumpable_and_capabilities_are_checked_in_this_order(void **state)
{
    (void)state;
    struct target_facts target = process;
    target.capabilities = 0x2000;
    assert_both(&user, &target, RULE_CAPABILITY);
    assert_text(&user, &target, ACCESS_MEMORY, -EPERM, "set 2000 of CapPrm");
    target.is_dumpable = false;
    assert_both(&user, &target, RULE_DUMPABLE);
}

static void capabilities_end_at_the_user_namespace(void **state)
{
    (void)state;
    struct own_rights own = root;
    struct target_facts target = process;
    own.is_in_namespace = true;
    target.is_in_other_namespace = true;
    assert_both(&own, &target, RULE_NAMESPACE);
    assert_text(&own, &target, ACCESS_MEMORY, -EPERM, "run rec outside of its namespace");
    assert_both(&user, &target, RULE_NAMESPACE);
    target.uids.real = 0;
    assert_both(&user, &target, RULE_USER);
}

static void yama_forbids_reads_but_no_events(void **state)
{
    (void)state;
    struct own_rights own = user, all = root;
    static const char *const parts[] = {"is 1; set to 0, or run rec as root",
                                        "is 2; set to 0, or run rec as root",
                                        "is 3, which forbids every process"};
    for (int scope = 1; scope <= 3; scope++) {
        own.ptrace_scope = all.ptrace_scope = scope;
        assert_int_equal(find(&own, &process, ACCESS_MEMORY), RULE_PTRACE_SCOPE);
        assert_int_equal(find(&own, &process, ACCESS_EVENTS), RULE_UNKNOWN);
        assert_text(&own, &process, ACCESS_MEMORY, -EPERM, parts[scope - 1]);
        assert_int_equal(find(&all, &process, ACCESS_MEMORY),
                         scope == 3 ? RULE_PTRACE_SCOPE : RULE_UNKNOWN);
    }
}

static void the_paranoid_level_forbids_events_but_no_reads(void **state)
{
    (void)state;
    struct own_rights own = user;
    own.paranoid = 3;
    assert_int_equal(find(&own, &process, ACCESS_EVENTS), RULE_PARANOID);
    assert_int_equal(find(&own, &process, ACCESS_MEMORY), RULE_UNKNOWN);
    own.capabilities = RIGHT_PERFMON;
    assert_int_equal(find(&own, &process, ACCESS_EVENTS), RULE_UNKNOWN);
    own.is_in_namespace = true; /* of no effect there */
    assert_int_equal(find(&own, &process, ACCESS_EVENTS), RULE_PARANOID);
}

static void seccomp_and_security_modules_refuse_rec_itself(void **state)
{
    (void)state;
    struct own_rights own = user;
    own.events_error = -EPERM;
    assert_int_equal(find(&own, &process, ACCESS_EVENTS), RULE_SECURITY_MODULE);
    assert_int_equal(find(&own, &process, ACCESS_MEMORY), RULE_UNKNOWN);
    own.has_filter = true;
    assert_int_equal(find(&own, &process, ACCESS_EVENTS), RULE_SECCOMP);
    assert_text(&own, NULL, ACCESS_EVENTS, -EPERM, "forbids perf_event_open");
    own.memory_error = -EPERM;
    assert_text(&own, &process, ACCESS_MEMORY, -EPERM, "forbids process_vm_readv");
    own = user;
    own.events_error = -ENOSYS;
    assert_text(&own, NULL, ACCESS_EVENTS, -ENOSYS, "the kernel has no perf_event_open");
}

static void locked_memory_is_limited_without_the_capability(void **state)
{
    (void)state;
    struct own_rights own = user;
    struct access_refusal refusal = {.own = &own, .access = ACCESS_EVENTS, .err = -EPERM};
    assert_int_equal(access_rule_find(&refusal), RULE_LOCKED_MEMORY);
    own.paranoid = -1;
    assert_int_equal(access_rule_find(&refusal), RULE_UNKNOWN);
    own.paranoid = 2;
    own.capabilities = RIGHT_IPC_LOCK;
    assert_int_equal(access_rule_find(&refusal), RULE_UNKNOWN);
    own.is_in_namespace = true; /* of no effect there */
    assert_int_equal(access_rule_find(&refusal), RULE_LOCKED_MEMORY);
}

static void unknown_rules_send_root_to_no_root(void **state)
{
    (void)state;
    struct own_rights own = root;
    struct target_facts target = process;
    assert_int_equal(find(&user, &process, ACCESS_MEMORY), RULE_UNKNOWN);
    assert_text(&user, &process, ACCESS_MEMORY, -EACCES, "; run rec as root");
    assert_int_equal(find(&own, &process, ACCESS_MEMORY), RULE_UNKNOWN);
    assert_text(&own, &process, ACCESS_MEMORY, -EACCES, ": a security module refuses");
    own = user;
    own.uid = 0;
    target.uids = (struct task_ids){0};
    assert_text(&own, &target, ACCESS_MEMORY, -EACCES, "; run rec with CAP_SYS_PTRACE");
}

static void status_gives_own_rights(void **state)
{
    (void)state;
    struct own_rights own = {.pid = 1};
    own_rights_parse(&own, "Name:\trec\nCapEff:\t0000004000080000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
    assert_int_equal(own.capabilities, RIGHT_PERFMON | RIGHT_SYS_PTRACE);
    assert_true(own.has_filter);
    own_rights_parse(&own, "CapEff:\t0000000000000000\nSeccomp:\t0\nSeccomp_filters:\t3\n");
    assert_int_equal(own.capabilities, 0);
    assert_false(own.has_filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_other_id_of_a_user_or_group_refuses),
        cmocka_unit_test(root_without_the_capability_is_not_told_to_be_root),
        cmocka_unit_test(capabilities_lift_rules_about_processes),
        cmocka_unit_test(dumpable_and_capabilities_are_checked_in_this_order),
        cmocka_unit_test(capabilities_end_at_the_user_namespace),
        cmocka_unit_test(yama_forbids_reads_but_no_events),
        cmocka_unit_test(the_paranoid_level_forbids_events_but_no_reads),
        cmocka_unit_test(seccomp_and_security_modules_refuse_rec_itself),
        cmocka_unit_test(locked_memory_is_limited_without_the_capability),
        cmocka_unit_test(unknown_rules_send_root_to_no_root),
        cmocka_unit_test(status_gives_own_rights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
