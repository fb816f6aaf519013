/* SPDX-License-Identifier: MIT */
/* What is said about a recording that is not as it should be, and that nothing is said about a good one. */
#include "cli/summary/diagnostics.h"

#include "base/containers/array.h"
#include "profile/synthetic.h"
#include "../profile/sample_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Ten seconds of CPU without a flaw. */
static struct record_summary good(void)
{
    return (struct record_summary){
        .engine = RECORD_ENGINE_PERF_TRAP,
        .frequency_requested = 1000,
        .samples = 10000,
        .complete = 10000,
        .cpu_billed_ns = UINT64_C(10000000000),
        .cpu_seen_ns = UINT64_C(10000000000),
        .processes = 1,
        .threads = 1,
    };
}

static void expect_one(const struct record_summary *summary, const char *text)
{
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    assert_int_equal(diagnostics_find(summary, NULL, diagnostics), 1);
    if (!strstr(diagnostics[0].text, text))
        fail_msg("'%s' is not in '%s'", text, diagnostics[0].text);
}

static void a_good_recording_has_no_problems(void **state)
{
    (void)state;
    struct record_summary summary = good();
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    assert_int_equal(diagnostics_find(&summary, NULL, diagnostics), 0);
    summary.lost[RECORD_LOST_BUSY] = 99; /* less than one per cent */
    summary.cut[RECORD_CUT_ROOT] = 99;
    assert_int_equal(diagnostics_find(&summary, NULL, diagnostics), 0);
}

static void each_flaw_has_its_size_and_remedy(void **state)
{
    (void)state;
    struct record_summary summary = good();
    summary.lost[RECORD_LOST_RING_FULL] = 2500;
    expect_one(&summary, "lost 20.0 % of the samples (ring-full): rec could not keep up");
    summary.short_ring_bytes = 1000000;
    summary.short_rings = 6;
    expect_one(&summary,
               "lost 20.0 % of the samples (ring-full): the limit of locked memory leaves "
               "1.0 MB for each of the 6 rings; raise the limit (ulimit -l, "
               "kernel.perf_event_mlock_kb), choose fewer events");
    summary.lost[RECORD_LOST_AWAY] = 1;
    expect_one(&summary, "lost 20.0 % of the samples (ring-full): rec was stopped");
    summary = good();
    summary.lost_events[RECORD_LOST_AWAY] = 2;
    summary.lost_events[RECORD_LOST_RING_FULL] = 1;
    expect_one(&summary, "lost 3 events of threads (away), so names, creations and joins may be "
                         "missing: rec was stopped");
    summary = good();
    summary.tables_left_out = 2;
    summary.off_cpu.tables_left_out = 3; /* of the same files, mostly */
    expect_one(
        &summary,
        "3 mapped files have more headers and unwind tables than rec reads, so stacks may end "
        "there; raise the limit with --memory-limit=SIZE");
    summary = good();
    summary.lost[RECORD_LOST_NO_THREAD] = 2500;
    expect_one(&summary, "lost 20.0 % of the samples (no-thread): in starting or ending threads");
    summary.threads_without_slot = 7;
    expect_one(&summary, "lost 20.0 % of the samples (no-thread): too many threads at one time");
    summary = good();
    summary.cut[RECORD_CUT_NO_CFI] = 400;
    summary.cut[RECORD_CUT_DEEP] = 100;
    expect_one(&summary, "5.0 % of the stacks are incomplete: code without unwind data");
    summary = good();
    summary.cut[RECORD_CUT_UNMAPPED] = 500;
    expect_one(&summary, "5.0 % of the stacks are incomplete: unknown code: JIT code without "
                         "frame pointers, or a library loaded just before");
    summary = good();
    for (int i = 0; i < 500; i++)
        record_cut_add(&summary, i % 4 ? RECORD_CUT_NO_CFI : RECORD_CUT_GUESS, "/usr/lib/liba.so");
    expect_one(&summary, "5.0 % of the stacks are incomplete, most in liba.so: no unwind data");
    summary = good();
    for (int i = 0; i < 500; i++)
        record_cut_add(&summary, RECORD_CUT_NO_CFI, "//anon");
    expect_one(&summary, "5.0 % of the stacks are incomplete, most in code generated at run time: "
                         "no unwind data and frame pointers");
    summary = good();
    for (int i = 0; i < 500; i++)
        record_cut_add(&summary, RECORD_CUT_FOREIGN, "/usr/bin/sbcl");
    expect_one(&summary, "5.0 % of the stacks are incomplete, most in sbcl: stacks allocated by ");
    summary = good();
    summary.cut[RECORD_CUT_STACK_COPY] = 500;
    expect_one(&summary, "5.0 % of the stacks are incomplete: stacks larger than the copied part");
    summary.engine = RECORD_ENGINE_PERF_RING;
    expect_one(&summary,
               "5.0 % of the stacks are incomplete: stacks larger than the kernel's copies "
               "(64 KiB at most): with `rec -- COMMAND`");
    summary.lacks_sampler = true;
    expect_one(&summary,
               "5.0 % of the stacks are incomplete: stacks larger than the kernel's copies "
               "(64 KiB at most); the sampler has no such limit, but cannot record this program");
    summary = good();
    summary.cpu_seen_ns -= summary.cpu_seen_ns / 10;
    expect_one(&summary, "10.0 % of the CPU time has no samples");
    summary = good();
    summary.blind_ns[RECORD_BLIND_BLOCKED] = summary.cpu_billed_ns / 4;
    summary.blind_ns[RECORD_BLIND_NO_TIMER] = summary.cpu_billed_ns / 20;
    expect_one(&summary,
               "no samples for 30.0 % of the CPU time: the program blocks the signal of ");
    summary = good();
    summary.blind_ns[RECORD_BLIND_UNHANDLED] = summary.cpu_billed_ns / 4;
    expect_one(&summary, "no samples for 25.0 % of the CPU time: the program removed the signal ");
    summary = good();
    summary.merged = 10000;
    expect_one(&summary, "50.0 % of the samples were merged");
    summary = good();
    summary.engine = RECORD_ENGINE_TIMER;
    summary.engine_reason = "perf events are forbidden";
    summary.samples = 2500;
    expect_one(&summary, "250 samples per CPU second instead of 1000, by the timer engine, because "
                         "perf events are forbidden");
    summary = good();
    summary.checked = 100;
    summary.check_differed = 3;
    expect_one(&summary, "3 of 100 stacks differ");
}

static void a_cause_without_samples_is_named_if_it_is_known(void **state)
{
    (void)state;
    struct record_summary summary = good();
    assert_null(diagnostics_gap_cause(&summary));
    summary.blind_ns[RECORD_BLIND_OTHER] = 2;
    summary.blind_ns[RECORD_BLIND_BLOCKED] = 1;
    assert_null(diagnostics_gap_cause(&summary));
    summary.blind_ns[RECORD_BLIND_NO_TIMER] = 3;
    assert_non_null(strstr(diagnostics_gap_cause(&summary), "refuses CPU timers"));
    summary.blind_ns[RECORD_BLIND_ELSEWHERE] = 4;
    assert_non_null(strstr(diagnostics_gap_cause(&summary), "recorded by another rec"));
}

static void add_thread(struct profile *profile)
{
    ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
}

/* Four fifths of the time in this profile are in an application, a fifth is there. */
static struct profile *fifth_in(const char *path)
{
    struct profile *profile = profile_new();
    const struct {
        const char *path;
        uint64_t weight_ns;
    } samples[] = {{"/usr/bin/app", UINT64_C(8000000000)}, {path, UINT64_C(2000000000)}};
    add_thread(profile);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t lib = profile_lib_id(profile, samples[i].path, NULL, 0);
        uint32_t address = profile_address_id(profile, lib, 8);
        const struct profile_sample sample = {
            .weight = samples[i].weight_ns,
            .call = profile_call_id(profile, PROFILE_NONE, address),
        };
        profile_add_sample(profile, &sample);
    }
    return profile;
}

static void time_that_could_not_be_followed_is_named(void **state)
{
    (void)state;
    struct record_summary summary = good();
    struct record_process processes[] = {
        {.pid = 42, .name = "ping", .reason = "it is privileged"},
        {.pid = 43, .name = "busybox", .reason = "it is static"},
    };
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    struct profile *profile = fifth_in("[not followed]");
    assert_int_equal(diagnostics_find(&summary, profile, diagnostics), 1);
    assert_non_null(strstr(diagnostics[0].text, "20.0 % of the CPU time is in processes"));
    summary.not_followed.items = processes;
    summary.not_followed.count = 2;
    assert_int_equal(diagnostics_find(&summary, profile, diagnostics), 1);
    assert_string_equal(diagnostics[0].text,
                        "not recorded (20.0 % of the CPU time): ping, process 42: it is "
                        "privileged; and 1 more, see `rec info`");
    profile_free(profile);
}

static void an_entry_for_time_that_no_sample_saw_is_not_counted_as_a_sample(void **state)
{
    (void)state;
    struct profile *profile = fifth_in("[not followed]");
    assert_int_equal(profile->sample_count, 2);
    assert_int_equal(samples_count_measured(profile), 1);
    /* The kernel that somebody called. */
    uint32_t lib = profile_lib_id(profile, "[kernel]", NULL, 0);
    uint32_t address = profile_address_id(profile, lib, 0);
    const struct profile_sample sample = {
        .weight = 1, .call = profile_call_id(profile, sample_at(profile, 0).call, address)};
    profile_add_sample(profile, &sample);
    assert_int_equal(samples_count_measured(profile), 2);
    /* The end of a thread above its start. */
    lib = profile_lib_id(profile, "[between samples]", NULL, 0);
    address = profile_address_id(profile, lib, 0);
    const struct profile_sample end = {
        .weight = 1, .call = profile_call_id(profile, sample_at(profile, 0).call, address)};
    profile_add_sample(profile, &end);
    assert_int_equal(samples_count_measured(profile), 2);
    profile_free(profile);
}

/* Functions of these libs have no name but a place; each has a quarter of the samples, the last two an eighth. */
/* A tenth of the samples in functions without names; nine tenths in functions that they call. */
static void the_share_that_passes_through_an_unnamed_module_is_stated(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    add_thread(profile);
    uint32_t call = PROFILE_NONE;
    static const char *const names[] = {"box+0x10", "box+0x20", "named"};
    static const char *const paths[] = {"/a/box", "/a/box", "/a/libc.so"};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t lib = profile_lib_id(profile, paths[i], NULL, 0);
        struct profile_func func = {.name = profile_string(profile, names[i]), .lib = lib};
        struct profile_frame frame = {.func = profile_func_id(profile, &func), .lib = lib};
        uint32_t address = profile_address_id(profile, lib, 0x10 + i);
        profile->addresses[address].first_frame = profile_add_frame(profile, &frame);
        profile->addresses[address].frame_count = 1;
        call = profile_call_id(profile, call, address);
        const struct profile_sample sample = {.weight = i < 2 ? 500 : 9000, .call = call};
        profile_add_sample(profile, &sample);
    }
    profile_link_stacks(profile);
    struct record_summary summary = good();
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    assert_int_equal(diagnostics_find(&summary, profile, diagnostics), 1);
    assert_string_equal(diagnostics[0].text, "no names for box (10.0 % of samples, 100 % pass "
                                             "through): file not found");
    profile_free(profile);
}

/* The first text about a recording with half of its stacks cut at path, and samples in the module. */
static const char *cause_with(const char *module, const char *function, enum record_cut cut,
                              const char *path)
{
    static struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    struct profile *profile = profile_new();
    struct record_summary summary = good();
    uint32_t lib = profile_lib_id(profile, module, NULL, 0);
    struct profile_func func = {.name = profile_string(profile, function), .lib = lib};
    (void)profile_func_id(profile, &func);
    for (int i = 0; i < 5000; i++)
        record_cut_add(&summary, cut, path);
    assert_true(diagnostics_find(&summary, profile, diagnostics) >= 1);
    profile_free(profile);
    return diagnostics[0].text;
}

static void the_runtime_of_cut_stacks_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *module, *function;
        enum record_cut cut;
        const char *path, *text;
    } cases[] = {
        {"/usr/bin/php8.2", "f", RECORD_CUT_NO_CFI, "/dev/zero", "opcache.jit=off"},
        {"/usr/lib/libguile-3.0.so.1.5.0", "f", RECORD_CUT_NO_CFI, "//anon", "GUILE_JIT_THRESHOLD"},
        {"/usr/lib/pypy3.9/libpypy3.9-c.so", "f", RECORD_CUT_NO_CFI, "", "pypy3 --jit off"},
        {"/usr/bin/mono-sgen", "f", RECORD_CUT_NO_CFI, "//anon", "MONO_DEBUG=disable_omit_fp"},
        {"/usr/lib/libmonosgen-2.0.so.1.0.0", "f", RECORD_CUT_UNMAPPED, "//anon", "MONO_DEBUG"},
        {"/usr/lib/erts/bin/beam.smp", "f", RECORD_CUT_NO_CFI, "/memfd:vmem", "Erlang processes"},
        {"/usr/lib/jvm/libjvm.so", "f", RECORD_CUT_UNMAPPED, "", "PreserveFramePointer"},
        {"/usr/bin/luajit", "f", RECORD_CUT_UNMAPPED, "/usr/bin/luajit", "luajit -joff"},
        {"/usr/bin/sbcl", "f", RECORD_CUT_NO_CFI, "/usr/bin/sbcl", "Lisp code of the main thread"},
        {"/wine/ntdll.so", "f", RECORD_CUT_STACK_COPY, "/wine/ntdll.so", ".pdata"},
        {"/a/haskell", "hs_main", RECORD_CUT_GUESS, "/a/haskell", "callers of Haskell code"},
        {"/usr/bin/sbcl", "f", RECORD_CUT_FOREIGN, "/usr/bin/sbcl", "Lisp code of the main thread"},
        /* Fibers without generated code. */
        {"/usr/bin/php8.2", "f", RECORD_CUT_FOREIGN, "/usr/bin/php8.2", "as of coroutines"},
        {"/usr/bin/php8.2", "f", RECORD_CUT_DEEP, "/usr/bin/php8.2", "too deep"},
        /* Another module is the cause. */
        {"/usr/lib/libluajit-5.1.so.2", "f", RECORD_CUT_NO_CFI, "/a/libx264.so", "no unwind data"},
        {"/usr/bin/node_exporter", "f", RECORD_CUT_NO_CFI, "//anon", "no unwind data"},
        {"/usr/bin/sbcl", "f", RECORD_CUT_DEEP, "//anon", "too deep"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text =
            cause_with(cases[i].module, cases[i].function, cases[i].cut, cases[i].path);
        if (!strstr(text, cases[i].text))
            fail_msg("'%s' is not in '%s'", cases[i].text, text);
    }
}

static void the_worst_unnamed_modules_are_named_and_others_counted(void **state)
{
    (void)state;
    static const char *const paths[] = {SOURCE_DIR "/README.md", "/a/two.so", "/a/three.so",
                                        "/a/four.so", "/a/five.so"};
    struct profile *profile = profile_new();
    add_thread(profile);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t lib = profile_lib_id(profile, paths[i], NULL, 0);
        char name[64];
        snprintf(name, sizeof(name), "%s+0x10", strrchr(paths[i], '/') + 1);
        struct profile_func func = {.name = profile_string(profile, name), .lib = lib};
        struct profile_frame frame = {.func = profile_func_id(profile, &func), .lib = lib};
        uint32_t address = profile_address_id(profile, lib, 0x10);
        profile->addresses[address].first_frame = profile_add_frame(profile, &frame);
        profile->addresses[address].frame_count = 1;
        const struct profile_sample sample = {
            .weight = i < 3 ? 2000 : 1000, .call = profile_call_id(profile, PROFILE_NONE, address)};
        profile_add_sample(profile, &sample);
    }
    profile_link_stacks(profile);
    struct record_summary summary = good();
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    assert_int_equal(diagnostics_find(&summary, profile, diagnostics), 4);
    unsigned absent = 0, no_elf = 0;
    for (size_t i = 0; i < 4; i++) {
        absent += strstr(diagnostics[i].text, ".so (25.0 % of samples): file not found") != NULL;
        no_elf += strstr(diagnostics[i].text, "README.md (25.0 % of samples): not an ELF") != NULL;
    }
    assert_int_equal(absent, 2);
    assert_int_equal(no_elf, 1);
    assert_string_equal(diagnostics[3].text, "no names for 2 other modules (25.0 % of samples)");
    profile_free(profile);
}

static void more_time_in_samples_than_was_used_is_said(void **state)
{
    (void)state;
    struct record_summary summary = good();
    summary.cpu_seen_ns = summary.cpu_billed_ns + summary.cpu_billed_ns / 20;
    expect_one(&summary, "the samples have 5.0 % more CPU time than the rusage");
}

static void the_biggest_problem_comes_first(void **state)
{
    (void)state;
    struct record_summary summary = good();
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    summary.cut[RECORD_CUT_NO_CFI] = 300;
    summary.lost[RECORD_LOST_BUSY] = 1000;
    summary.cpu_seen_ns = summary.cpu_billed_ns / 2;
    assert_int_equal(diagnostics_find(&summary, NULL, diagnostics), 3);
    assert_true(diagnostics[0].percent > diagnostics[1].percent);
    assert_true(diagnostics[1].percent > diagnostics[2].percent);
    assert_non_null(strstr(diagnostics[0].text, "CPU time"));
    assert_non_null(strstr(diagnostics[2].text, "incomplete"));
}

static void a_recording_of_nothing_has_no_rates(void **state)
{
    (void)state;
    struct record_summary summary = {.engine = RECORD_ENGINE_TIMER, .frequency_requested = 1000};
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    assert_int_equal(diagnostics_find(&summary, NULL, diagnostics), 0);
}

/* What is said of a file with two samples, and one of a kind that was made of others. */
static void say_of_file_with(const char *lost_records, char *said, size_t size)
{
    struct profile *profile = fifth_in("/usr/bin/other");
    profile_add_event(profile, &(struct profile_event){.name = PROFILE_NONE});
    profile_add_event(profile, &(struct profile_event){.name = PROFILE_NONE, .is_off_cpu = true});
    profile_add_sample(profile, &(struct profile_sample){
                                    .event = 1, .weight = 9, .call = sample_at(profile, 0).call});
    profile_link_stacks(profile);
    profile_add_note(profile, "lost_records", lost_records);
    FILE *file = tmpfile();
    int err = dup(STDERR_FILENO);
    assert_true(file && dup2(fileno(file), STDERR_FILENO) >= 0);
    diagnostics_print_for_file(profile, NULL);
    dup2(err, STDERR_FILENO);
    close(err);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    fclose(file);
    profile_free(profile);
}

static void what_the_recorder_lost_is_said_of_its_file(void **state)
{
    (void)state;
    char said[4096];
    say_of_file_with("6", said, sizeof(said));
    assert_non_null(strstr(said, "rec: 6 records were lost in addition to 2 samples"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_recording_has_no_problems),
        cmocka_unit_test(each_flaw_has_its_size_and_remedy),
        cmocka_unit_test(a_cause_without_samples_is_named_if_it_is_known),
        cmocka_unit_test(time_that_could_not_be_followed_is_named),
        cmocka_unit_test(an_entry_for_time_that_no_sample_saw_is_not_counted_as_a_sample),
        cmocka_unit_test(the_share_that_passes_through_an_unnamed_module_is_stated),
        cmocka_unit_test(the_runtime_of_cut_stacks_is_named),
        cmocka_unit_test(the_worst_unnamed_modules_are_named_and_others_counted),
        cmocka_unit_test(more_time_in_samples_than_was_used_is_said),
        cmocka_unit_test(the_biggest_problem_comes_first),
        cmocka_unit_test(a_recording_of_nothing_has_no_rates),
        cmocka_unit_test(what_the_recorder_lost_is_said_of_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
