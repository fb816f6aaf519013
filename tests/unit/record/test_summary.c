/* SPDX-License-Identifier: MIT */
/* The text that is stored in rec.data: scripts read its keys. */
#include "record/options.h"
#include "record/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *text_of(const struct record_summary *summary)
{
    struct buffer out = {0};
    record_summary_text(summary, &out);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    return (char *)out.bytes;
}

static void assert_line(const char *text, const char *line)
{
    char with_ends[256];
    snprintf(with_ends, sizeof(with_ends), "\n%s\n", line);
    if (!strstr(text, with_ends))
        fail_msg("no line '%s' in:%s", line, text);
}

static void keys_and_values_are_as_documented(void **state)
{
    (void)state;
    struct record_summary summary = {
        .engine = RECORD_ENGINE_TIMER,
        .engine_reason = "perf events are forbidden",
        .frequency_requested = 999,
        .samples = 23061,
        .complete = 23000,
        .cpu_billed_ns = UINT64_C(23100000000),
        .merged = 3,
        .cfi_conflicts = 2,
        .files_left_out = 7,
        .processes = 2,
    };
    summary.cut[RECORD_CUT_NO_CFI] = 61;
    summary.lost[RECORD_LOST_RING_FULL] = 5;
    summary.lost_events[RECORD_LOST_RING_FULL] = 3;
    summary.lost_events[RECORD_LOST_AWAY] = 2;
    char *text = text_of(&summary);
    assert_int_equal(strncmp(text, "version=1\n", 10), 0);
    assert_line(text, "engine=timer");
    assert_line(text, "engine_reason=perf events are forbidden");
    assert_line(text, "frequency_asked=999");
    assert_line(text, "samples=23061");
    assert_line(text, "complete=23000");
    assert_line(text, "cpu_billed_ns=23100000000");
    assert_line(text, "merged=3");
    assert_line(text, "cfi_conflicts=2");
    assert_line(text, "files_left_out=7");
    assert_line(text, "processes=2");
    assert_line(text, "cut.no-cfi=61");
    assert_line(text, "cut.root=0");
    assert_line(text, "lost.ring-full=5");
    assert_line(text, "lost_events=5");
    assert_line(text, "lost_events.away=2");
    assert_null(strstr(text, "worst_module"));
    free(text);
}

static void foreign_names_stay_on_their_line(void **state)
{
    (void)state;
    struct record_summary summary = {0};
    summary.not_followed.items = calloc(1, sizeof(*summary.not_followed.items));
    summary.not_followed.count = 1;
    summary.not_followed.items[0] =
        (struct record_process){.pid = 42, .name = "a b\nsamples=1\\", .reason = "it is static"};
    strcpy(summary.worst_module.path, "/lib/x\ny.so");
    summary.worst_module.misses = 2;
    char *text = text_of(&summary);
    assert_line(text, "not_followed.0=42 a\\x20b\\x0asamples=1\\x5c it is static");
    assert_line(text, "worst_module=/lib/x\\x0ay.so");
    assert_line(text, "worst_module_misses=2");
    free(text);
    record_summary_free(&summary);
    assert_null(summary.not_followed.items);
    assert_int_equal(summary.not_followed.count, 0);
}

static void any_number_of_processes_has_a_bounded_list(void **state)
{
    (void)state;
    struct record_summary summary = {0};
    for (int i = 0; i < RECORD_PROCESSES_MAX + 10; i++)
        record_processes_add(&summary.not_followed, 1000 + i, "busybox", "it is static");
    record_processes_add_cpu(&summary.not_followed, 1002, 7);
    record_processes_add_cpu(&summary.not_followed, 1000 + RECORD_PROCESSES_MAX, 8);
    record_processes_add_cpu(&summary.not_followed, 1001 + RECORD_PROCESSES_MAX, 9);
    record_processes_add(&summary.left_running, 42, "daemon", NULL);
    record_processes_add(&summary.earlier_children, 43, "worker", NULL);
    char *text = text_of(&summary);
    assert_int_equal(summary.not_followed.count, RECORD_PROCESSES_MAX);
    assert_line(text, "not_followed.more=10");
    assert_line(text, "not_followed_cpu_ns.2=7");
    assert_line(text, "not_followed_cpu_ns.more=17");
    assert_line(text, "left_running.0=42 daemon");
    assert_line(text, "earlier_child.0=43 worker");
    free(text);
    record_summary_free(&summary);
}

static void losses_of_several_events_are_a_share_of_the_samples_of_all(void **state)
{
    (void)state;
    struct record_summary summary = {
        .samples = 30,
        .other_samples = 8970,
        .lost = {[RECORD_LOST_RING_FULL] = 500, [RECORD_LOST_OTHER] = 500}};
    assert_int_equal(record_lost(&summary), 1000);
    assert_int_equal(record_taken(&summary), 10000);
}

static void incomplete_stacks_are_counted_by_cause_and_module(void **state)
{
    (void)state;
    struct record_summary summary = {0};
    assert_null(record_cut_worst(&summary));
    record_cut_add(&summary, RECORD_CUT_DEEP, NULL);
    assert_null(record_cut_worst(&summary));
    for (int i = 0; i < RECORD_CUT_MODULES_MAX + 4; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/lib/%d\n.so", i);
        for (int k = 0; k <= i; k++)
            record_cut_add(&summary, RECORD_CUT_NO_CFI, path);
    }
    record_cut_add(&summary, RECORD_CUT_GUESS, "/lib/3\n.so");
    char *text = text_of(&summary);
    assert_int_equal(summary.cut[RECORD_CUT_NO_CFI], 210);
    assert_int_equal(summary.cut[RECORD_CUT_DEEP], 1);
    assert_int_equal(summary.cut[RECORD_CUT_GUESS], 1);
    assert_string_equal(record_cut_worst(&summary)->path, "/lib/15\n.so");
    assert_line(text, "cut_module.3=4 no-cfi /lib/3\\x0a.so");
    assert_null(strstr(text, "cut_module.16"));
    free(text);
}

static void every_cause_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (enum record_cut a = 0; a < RECORD_CUTS; a++)
        for (enum record_cut b = 0; b < a; b++)
            assert_string_not_equal(record_cut_name(a), record_cut_name(b));
    for (enum record_loss a = 0; a < RECORD_LOSSES; a++)
        for (enum record_loss b = 0; b < a; b++)
            assert_string_not_equal(record_loss_name(a), record_loss_name(b));
    assert_string_equal(record_cut_name(RECORD_CUTS), "unknown");
    assert_string_equal(record_loss_name(RECORD_LOSSES), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_are_as_documented),
        cmocka_unit_test(foreign_names_stay_on_their_line),
        cmocka_unit_test(any_number_of_processes_has_a_bounded_list),
        cmocka_unit_test(losses_of_several_events_are_a_share_of_the_samples_of_all),
        cmocka_unit_test(incomplete_stacks_are_counted_by_cause_and_module),
        cmocka_unit_test(every_cause_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
