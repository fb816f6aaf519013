/* SPDX-License-Identifier: MIT */
/* The texts of /proc behind snapshots, and the refusals by rule. */
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/attach/snapshot/thread_facts.h"
#include "record/procfs/blocked/wait_age.h"
#include "record/procfs/blocked/wait_object.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void stat_gives_name_state_times_and_processor(void **state)
{
    (void)state;
    struct thread_facts facts = {.processor = -1};
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    assert_true(thread_facts_parse_stat(
        &facts, "42 (a) b (c) S 1 42 42 0 -1 4194304 1 2 3 4 17 23 7 8 20 0 1 0 100 4096 10 "
                "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 3 0 0 0 0 0\n"));
    assert_string_equal(facts.name, "a) b (c");
    assert_int_equal(facts.state, 'S');
    assert_int_equal(facts.user_ns, 17 * tick_ns);
    assert_int_equal(facts.kernel_ns, 23 * tick_ns);
    assert_int_equal(facts.processor, 3);
    assert_false(thread_facts_parse_stat(&facts, "42 (short) S 1 42"));
    assert_false(thread_facts_parse_stat(&facts, ""));
}

static void status_gives_context_switches(void **state)
{
    (void)state;
    struct thread_facts facts = {.processor = -1};
    thread_facts_parse_status(
        &facts, "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n");
    assert_int_equal(facts.voluntary, 12);
    assert_int_equal(facts.involuntary, 3);
}

static void sched_gives_the_last_time_on_a_processor(void **state)
{
    (void)state;
    uint64_t ns = 0;
    assert_true(wait_age_parse(&ns, "x (1, #threads: 1)\n----\nse.exec_start           :   "
                                    "  123456.789012\nse.vruntime : 1.0\n"));
    assert_int_equal(ns, 123456789012);
    assert_false(wait_age_parse(&ns, "se.exec_start : 12\n"));
    assert_false(wait_age_parse(&ns, "se.exec_start : 12.5\n"));
    assert_false(wait_age_parse(&ns, "se.vruntime : 1.000000\n"));
}

static void assert_socket(const char *line, const char *protocol, const char *expected)
{
    char text[160] = "";
    assert_true(wait_object_parse_socket(line, protocol, 4711, text, sizeof(text)));
    assert_string_equal(text, expected);
    assert_false(wait_object_parse_socket(line, protocol, 471, text, sizeof(text)));
}

static void sockets_have_their_addresses(void **state)
{
    (void)state;
    assert_socket(
        "   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 "
        "       0 4711 1 0000000000000000 100 0 0 10 0\n",
        "tcp", "tcp socket 127.0.0.1:6379");
    assert_socket(
        "   1: 0100007F:18EB 0100007F:9CAC 01 00000000:00000000 00:00000000 00000000  1000 "
        "       0 4711 1\n",
        "tcp", "tcp socket 127.0.0.1:6379 to 127.0.0.1:40108");
    assert_socket("   0: 00000000000000000000000001000000:1F90 "
                  "00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 "
                  "    0        0 4711 1\n",
                  "tcp6", "tcp socket [::1]:8080");
    assert_socket("0000000000000000: 00000002 00000000 00010000 0001 01 4711 /run/x.sock\n", "unix",
                  "unix socket /run/x.sock");
    assert_socket("0000000000000000: 00000003 00000000 00000000 0001 03 4711\n", "unix",
                  "unix socket");
}

static void other_lines_are_no_sockets(void **state)
{
    (void)state;
    char text[160] = "";
    assert_false(wait_object_parse_socket("", "tcp", 1, text, sizeof(text)));
    assert_false(wait_object_parse_socket("  sl  local_address rem_address   st\n", "tcp", 0, text,
                                          sizeof(text)));
    assert_false(
        wait_object_parse_socket("   0: zz:1 zz:2 0A a b c 0 0 5\n", "tcp", 5, text, sizeof(text)));
    assert_false(wait_object_parse_socket("Num RefCount\n", "unix", 0, text, sizeof(text)));
}

static void assert_refused(const struct target_facts *facts, const struct own_rights *own,
                           const char *part)
{
    struct error error = {{0}};
    int err = snapshot_refusal_check(facts, own->pid, 42, &error);
    if (err == 0)
        err = snapshot_refusal_explain(facts, own, 42, -EACCES, &error);
    assert_true(err < 0);
    if (!strstr(error.text, part))
        print_error("%s\n", error.text);
    assert_non_null(strstr(error.text, part));
}

static void a_refusal_names_its_rule(void **state)
{
    (void)state;
    struct target_facts facts = {.name = "x",
                                 .state = 'S',
                                 .pid = 42,
                                 .uids = {1000, 1000, 1000},
                                 .gids = {1000, 1000, 1000},
                                 .threads = 1};
    struct own_rights own = {.pid = 7, .uid = 1000, .gid = 1000};
    assert_refused(&facts, &own, "a kernel thread");
    facts.has_memory = facts.is_dumpable = true;
    assert_refused(&facts, &own, "more rights than rec");
    own.ptrace_scope = 1;
    assert_refused(&facts, &own, "kernel.yama.ptrace_scope is 1; set to 0");
    facts.is_dumpable = false;
    assert_refused(&facts, &own, "not dumpable");
    own.uid = 1001;
    assert_refused(&facts, &own, "a process of another user (uid 1000, rec has 1001)");
    own.pid = 42;
    assert_refused(&facts, &own, "rec itself");
    facts.pid = 40;
    assert_refused(&facts, &own, "a thread of process 40; use -p 40");
    facts = (struct target_facts){.pid = 0};
    assert_refused(&facts, &own, "no such process");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_gives_name_state_times_and_processor),
        cmocka_unit_test(status_gives_context_switches),
        cmocka_unit_test(sched_gives_the_last_time_on_a_processor),
        cmocka_unit_test(sockets_have_their_addresses),
        cmocka_unit_test(other_lines_are_no_sockets),
        cmocka_unit_test(a_refusal_names_its_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
