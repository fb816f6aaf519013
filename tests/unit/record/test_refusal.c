/* SPDX-License-Identifier: MIT */
/* Every refusal names the rule: facts are made up, as /proc and the kernel would give them. */
#include "record/attach/refusal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct own_rights user = {.pid = 50, .uid = 1000, .gid = 1000, .paranoid = 2};

static struct target_facts target(void)
{
    return (struct target_facts){.name = "busy",
                                 .state = 'R',
                                 .pid = 77,
                                 .uids = {1000, 1000, 1000},
                                 .gids = {1000, 1000, 1000},
                                 .threads = 1,
                                 .has_memory = true,
                                 .is_dumpable = true};
}

static void assert_says(const struct error *error, const char *rule)
{
    if (!strstr(error->text, rule))
        fail_msg("'%s' is not in '%s'", rule, error->text);
    assert_null(strchr(error->text, '\n'));
}

static void assert_refused(struct target_facts facts, const char *rule)
{
    struct error error = {{0}};
    assert_true(refusal_check(&facts, &user, 77, false, &error) < 0);
    assert_says(&error, rule);
}

static void assert_explained(struct target_facts facts, struct own_rights own, int err,
                             const char *rule)
{
    struct error error = {{0}};
    assert_int_equal(refusal_explain(&facts, &own, 77, err, &error), err);
    assert_says(&error, rule);
}

static void status_text_becomes_facts(void **state)
{
    (void)state;
    struct target_facts facts =
        target_facts_parse("Name:\tmy prog\nUmask:\t0022\nState:\tS (sleeping)\n"
                           "Tgid:\t77\nPid:\t78\nUid:\t1000\t1001\t1000\t1000\n"
                           "Gid:\t5\t6\t7\t8\nVmSize:\t  5 kB\nThreads:\t12\n"
                           "CapPrm:\t0000000000002000\nCapEff:\t0000000000000000\n");
    assert_string_equal(facts.name, "my prog");
    assert_int_equal(facts.state, 'S');
    assert_int_equal(facts.pid, 77);
    assert_int_equal(facts.uids.real, 1000);
    assert_int_equal(facts.uids.effective, 1001);
    assert_int_equal(facts.uids.saved, 1000);
    assert_int_equal(facts.gids.saved, 7);
    assert_int_equal(facts.capabilities, 0x2000);
    assert_int_equal(facts.threads, 12);
    assert_true(facts.has_memory);
    facts = target_facts_parse("");
    assert_int_equal(facts.pid, 0);
    assert_false(facts.has_memory);
}

static void tasks_without_user_code_are_refused(void **state)
{
    (void)state;
    struct target_facts facts = target();
    struct error error;
    assert_int_equal(refusal_check(&facts, &user, 77, false, &error), 0);
    assert_refused((struct target_facts){0}, "no such process");
    facts.pid = 50;
    assert_refused(facts, "rec cannot record itself");
    facts.pid = 60;
    assert_refused(facts, "a thread of process 60; use -t 77");
    facts = target();
    facts.has_memory = false;
    assert_refused(facts, "kernel thread");
    facts.state = 'Z';
    assert_refused(facts, "zombie");
}

static void an_ended_first_thread_leaves_a_process(void **state)
{
    (void)state;
    struct target_facts facts = target();
    struct error error;
    facts.state = 'Z';
    facts.has_memory = false;
    facts.threads = 2;
    assert_int_equal(refusal_check(&facts, &user, 77, false, &error), 0);
}

static void permissions_are_explained(void **state)
{
    (void)state;
    struct target_facts facts = target();
    struct own_rights own = user;
    own.paranoid = 3;
    assert_explained(facts, own, -EACCES, "kernel.perf_event_paranoid is 3");
    own = user;
    own.events_error = -EPERM;
    assert_explained(facts, own, -EPERM, "security module");
    own.has_filter = true;
    assert_explained(facts, own, -EPERM, "seccomp");
    facts.uids.saved = 0;
    assert_explained(facts, user, -EACCES, "another user (uid 0, rec has 1000)");
    facts = target();
    facts.is_dumpable = false;
    assert_explained(facts, user, -EACCES, "not dumpable");
    assert_explained(target(), user, -EACCES, "more rights than rec");
}

static void other_errors_are_explained(void **state)
{
    (void)state;
    assert_explained(target(), user, -ESRCH, "ended meanwhile");
    assert_explained(target(), user, -EMFILE, "ulimit -Hn");
    struct own_rights own = user;
    own.events_error = -ENOSYS;
    assert_explained(target(), own, -ENOSYS, "the kernel has no perf_event_open");
    assert_explained(target(), user, -EINVAL, "Invalid argument");
}

static void refusals_of_the_system_are_explained(void **state)
{
    (void)state;
    struct own_rights own = user;
    struct error error = {{0}};
    assert_int_equal(refusal_explain_system(&own, -EACCES, &error), -EACCES);
    assert_says(&error, "kernel.perf_event_paranoid is 2; set to 0 or less");
    own.events_error = -EACCES;
    own.has_filter = true;
    assert_int_equal(refusal_explain_system(&own, -EACCES, &error), -EACCES);
    assert_says(&error, "seccomp");
    assert_int_equal(refusal_explain_system(&user, -EMFILE, &error), -EMFILE);
    assert_says(&error, "Too many open files");
}

static void refusals_of_rings_are_explained(void **state)
{
    (void)state;
    struct own_rights own = user;
    struct error error = {{0}};
    own.ring_kilobytes = 516;
    own.locked_bytes = 8 << 20;
    assert_int_equal(refusal_explain_rings(&own, -EPERM, &error), -EPERM);
    assert_says(&error, "(516 KiB a processor, kernel.perf_event_mlock_kb, and 8192 KiB); raise");
    own.events_error = -EPERM;
    own.has_filter = true;
    assert_int_equal(refusal_explain_rings(&own, -EPERM, &error), -EPERM);
    assert_says(&error, "seccomp filter forbids perf_event_open");
    assert_int_equal(refusal_explain_rings(&user, -EMFILE, &error), -EMFILE);
    assert_says(&error, "Too many open files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_text_becomes_facts),
        cmocka_unit_test(tasks_without_user_code_are_refused),
        cmocka_unit_test(an_ended_first_thread_leaves_a_process),
        cmocka_unit_test(permissions_are_explained),
        cmocka_unit_test(other_errors_are_explained),
        cmocka_unit_test(refusals_of_the_system_are_explained),
        cmocka_unit_test(refusals_of_rings_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
