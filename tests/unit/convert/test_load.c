/* SPDX-License-Identifier: MIT */
/* What records mean: each test tells a small story and asks where its samples ended up. The files
 * that it names are not there, so svmas are offsets in the file. */
#include "story.h"

#include "base/files/io.h"

#include <errno.h>

static void callers_are_looked_up_one_byte_before_their_return_address(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x10000, "/nowhere/app");
    SAMPLED(&story, 10, 10, 2000, 0x400100, 0x400200, 0x400300);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0), "app+0x2ff;app+0x1ff;app+0x100");
    assert_string_equal(names_of(profile, 0), "0x2ff;0x1ff;0x100");
    assert_int_equal(sample_at(profile, 0).weight, 7);
    profile_free(profile);
}

static void markers_separate_kernel_code_from_user_code(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x10000, "/nowhere/app");
    SAMPLED(&story, 10, 10, 2000, PERFDATA_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
            PERFDATA_CONTEXT_USER, 0x400100, 0x400200);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0),
                        "app+0x1ff;app+0x100;[kernel.kallsyms]+0xffffffff8100001f;"
                        "[kernel.kallsyms]+0xffffffff81000010");
    const struct profile_frame *innermost =
        &profile->frames[profile->stacks[sample_at(profile, 0).stack].frame];
    assert_int_equal(innermost->category, PROFILE_KERNEL);
    assert_false(profile->libs[innermost->lib].is_synthetic);
    profile_free(profile);
}

static void an_offset_and_an_unknown_place_are_kept(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped_file(&story, 10, 0, 0x400000, 0x1000, 0x3000, "/nowhere/app", NULL, 0);
    SAMPLED(&story, 10, 10, 2000, 0x400010, 0x999999);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0), "?+0x999998;app+0x3010");
    const struct profile_lib *lib = &profile->libs[0];
    assert_int_equal(lib->map_start_avma, 0x400000);
    assert_int_equal(lib->map_end_avma, 0x401000);
    assert_int_equal(lib->map_file_offset, 0x3000);
    assert_int_equal(lib->map_bias, 0x400000 - 0x3000);
    profile_free(profile);
}

static void a_later_mapping_replaces_the_older_from_its_time_on(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 1000, 0x400000, 0x3000, "/nowhere/old.so");
    SAMPLED(&story, 10, 10, 2000, 0x401010);
    mapped(&story, 10, 3000, 0x401000, 0x1000, "/nowhere/new.so");
    SAMPLED(&story, 10, 10, 4000, 0x401010);
    SAMPLED(&story, 10, 10, 4001, 0x400010);
    SAMPLED(&story, 10, 10, 4002, 0x402010);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0), "old.so+0x1010");
    assert_string_equal(addresses_of(profile, 1), "new.so+0x10");
    assert_string_equal(addresses_of(profile, 2), "old.so+0x10");
    assert_string_equal(addresses_of(profile, 3), "old.so+0x2010");
    profile_free(profile);
}

static void a_program_that_runs_has_nothing_of_the_one_before_its_exec(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 1000, "sh", true);
    mapped(&story, 10, 1001, 0x400000, 0x1000, "/nowhere/sh");
    SAMPLED(&story, 10, 10, 2000, 0x400010);
    comm(&story, 10, 10, 3000, "app", true);
    mapped(&story, 10, 3001, 0x700000, 0x1000, "/nowhere/app");
    SAMPLED(&story, 10, 10, 4000, 0x700010, 0x400011);
    mapped(&story, 10, 4001, 0x400000, 0x1000, "/nowhere/lib");
    SAMPLED(&story, 10, 10, 4002, 0x400010);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0), "sh+0x10");
    assert_string_equal(addresses_of(profile, 1), "?+0x400010;app+0x10");
    assert_string_equal(addresses_of(profile, 2), "lib+0x10");
    assert_int_equal(profile->process_count, 1);
    assert_string_equal(profile_text(profile, profile->processes[0].name), "app");
    assert_string_equal(profile_text(profile, profile->product), "sh");
    profile_free(profile);
}

static void a_child_starts_with_the_mappings_of_its_parent(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x1000, "/nowhere/app");
    forked(&story, 10, 11, 11, 2000);
    mapped(&story, 11, 2001, 0x500000, 0x1000, "/nowhere/plugin.so");
    SAMPLED(&story, 11, 11, 3000, 0x400010, 0x500011);
    SAMPLED(&story, 10, 10, 3001, 0x500010);
    exited(&story, 11, 11, 4000);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0), "plugin.so+0x10;app+0x10");
    assert_string_equal(addresses_of(profile, 1), "?+0x500010");
    assert_int_equal(process_of(profile, 0)->pid, 11);
    assert_int_equal(process_of(profile, 0)->parent_pid, 10);
    assert_int_equal(process_of(profile, 0)->start_ns, 2000);
    assert_int_equal(process_of(profile, 0)->end_ns, 4000);
    assert_int_equal(process_of(profile, 1)->end_ns, 0);
    assert_string_equal(profile_text(profile, process_of(profile, 0)->name), "app");
    profile_free(profile);
}

static void a_parent_that_was_not_recorded_is_no_process(void **state)
{
    (void)state;
    struct story story = story_begin();
    forked(&story, 9, 10, 10, 1000);
    comm(&story, 10, 10, 1001, "app", true);
    SAMPLED(&story, 10, 10, 2000, 0x10);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->process_count, 1);
    assert_int_equal(process_of(profile, 0)->parent_pid, 9);
    profile_free(profile);
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "make", true);
    forked(&story, 10, 11, 11, 1000);
    comm(&story, 11, 11, 1001, "cc", true);
    mapped(&story, 11, 1002, 0x400000, 0x1000, "/nowhere/cc");
    SAMPLED(&story, 11, 11, 1003, 0x400010);
    exited(&story, 11, 11, 2000);
    forked(&story, 10, 11, 11, 3000);
    comm(&story, 11, 11, 3001, "ld", true);
    mapped(&story, 11, 3002, 0x400000, 0x1000, "/nowhere/ld");
    SAMPLED(&story, 11, 11, 3003, 0x400010);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->process_count, 3);
    assert_string_equal(profile_text(profile, process_of(profile, 0)->name), "cc");
    assert_string_equal(addresses_of(profile, 0), "cc+0x10");
    assert_string_equal(profile_text(profile, process_of(profile, 1)->name), "ld");
    assert_string_equal(addresses_of(profile, 1), "ld+0x10");
    profile_free(profile);
}

static void a_renamed_thread_keeps_its_process_name(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    forked(&story, 10, 10, 12, 1000);
    SAMPLED(&story, 10, 12, 1500, 0x10);
    comm(&story, 10, 12, 2000, "worker", false);
    comm(&story, 10, 10, 2001, "main loop", false);
    SAMPLED(&story, 10, 10, 3000, 0x10);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->process_count, 1);
    assert_int_equal(profile->thread_count, 2);
    assert_string_equal(thread_name_of(profile, 0), "worker");
    assert_string_equal(thread_name_of(profile, 1), "main loop");
    assert_true(profile->threads[sample_at(profile, 1).thread].is_main);
    assert_false(profile->threads[sample_at(profile, 0).thread].is_main);
    assert_string_equal(profile_text(profile, profile->processes[0].name), "app");
    profile_free(profile);
}

static void records_count_by_their_time_and_not_by_their_place(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    SAMPLED(&story, 10, 10, 3000, 0x400010);
    SAMPLED(&story, 10, 10, 1500, 0x400010);
    perfdata_write_round(story.writer);
    mapped(&story, 10, 2000, 0x400000, 0x1000, "/nowhere/late.so");
    SAMPLED(&story, 10, 10, 2500, 0x400020);
    perfdata_write_round(story.writer);
    SAMPLED(&story, 10, 10, 3500, 0x400030);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->sample_count, 4);
    assert_string_equal(addresses_of(profile, 0), "?+0x400010");
    assert_string_equal(addresses_of(profile, 1), "late.so+0x20");
    assert_string_equal(addresses_of(profile, 2), "late.so+0x10");
    assert_string_equal(addresses_of(profile, 3), "late.so+0x30");
    for (size_t i = 1; i < profile->sample_count; i++)
        assert_true(sample_at(profile, i - 1).time_ns < sample_at(profile, i).time_ns);
    profile_free(profile);
}

static void marks_carry_their_own_name_at_one_address(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum profile_category category;
    } marks[] = {{"[exit]", PROFILE_SYNTHETIC},
                 {"[exec and dynamic linking]", PROFILE_SYNTHETIC},
                 {"[truncated]", PROFILE_SYNTHETIC},
                 {"[not followed]", PROFILE_SYNTHETIC},
                 {"[kernel]", PROFILE_KERNEL}};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct story story = story_begin();
        comm(&story, 10, 10, 0, "app", true);
        mapped(&story, 10, 0, 0x800000000000, 0x1000, marks[i].name);
        SAMPLED(&story, 10, 10, 2000, 0x800000000008);
        SAMPLED(&story, 10, 10, 2001, 0x10, 0x800000000008);
        struct profile *profile = story_end(&story);
        assert_string_equal(names_of(profile, 0), marks[i].name);
        uint32_t address = profile->calls[sample_at(profile, 0).call].address;
        const struct profile_call *outer =
            &profile->calls[profile->calls[sample_at(profile, 1).call].parent];
        assert_int_equal(outer->address, address);
        const struct profile_lib *lib = &profile->libs[profile->addresses[address].lib];
        assert_true(lib->is_synthetic);
        assert_int_equal(lib->category, marks[i].category);
        profile_free(profile);
    }
}

static void memory_without_a_file_keeps_its_runtime_addresses(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x1000, "//anon");
    mapped(&story, 10, 0, 0x500000, 0x1000, "//anon");
    mapped(&story, 10, 0, 0x600000, 0x1000, "[heap]");
    SAMPLED(&story, 10, 10, 2000, 0x400010, 0x500011, 0x600011);
    struct profile *profile = story_end(&story);
    assert_string_equal(addresses_of(profile, 0),
                        "[JIT] tid 10+0x600010;[JIT] tid 10+0x500010;[JIT] tid 10+0x400010");
    assert_string_equal(names_of(profile, 0), "[heap 0x600000];[anon 0x500000];[anon 0x400000]");
    for (size_t i = 0; i < profile->lib_count; i++) {
        assert_int_equal(profile->libs[i].category, PROFILE_JIT);
        assert_false(profile->libs[i].is_synthetic);
    }
    profile_free(profile);
}

/* This process' vDSO is taken for that of any other on the same kernel. */
static void a_vdso_of_32_bit_is_not_ours(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app32", true);
    comm(&story, 11, 11, 0, "app64", true);
    mapped(&story, 10, 0, 0xf7fc9000, 0x2000, "[vdso]");
    mapped(&story, 11, 0, 0x7ffff7fc9000, 0x2000, "[vdso]");
    SAMPLED(&story, 10, 10, 2000, 0xf7fc9010);
    SAMPLED(&story, 11, 11, 2001, 0x7ffff7fc9010);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->lib_count, 2);
    assert_int_equal(profile->libs[0].build_id_bytes, 0);
    assert_true(profile->libs[1].build_id_bytes > 0);
    profile_free(profile);
}

static void the_program_is_the_first_lib_and_no_library(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x1000, "/nowhere/app");
    mapped(&story, 10, 0, 0x500000, 0x1000, "/nowhere/lib.so");
    SAMPLED(&story, 10, 10, 2000, 0x500010);
    SAMPLED(&story, 10, 10, 2001, 0x400010);
    struct profile *profile = story_end(&story);
    assert_string_equal(profile_text(profile, profile->libs[0].path), "/nowhere/app");
    assert_string_equal(profile_text(profile, profile->libs[0].name), "app");
    assert_int_equal(profile->libs[0].category, PROFILE_USER);
    assert_int_equal(profile->libs[1].category, PROFILE_LIBRARY);
    profile_free(profile);
}

static void the_recordings_facts_are_told(void **state)
{
    (void)state;
    struct story story = story_begin();
    static const char summary[] = "version=1\nengine=perf-trap\nsamples=2\nodd line\n";
    comm(&story, 10, 10, 0, "app", true);
    SAMPLED(&story, 10, 10, 3000, 0x10);
    SAMPLED(&story, 10, 10, 9000, 0x10);
    perfdata_set_feature(story.writer, PERFDATA_FEATURE_SUMMARY, summary, strlen(summary));
    struct profile *profile = story_end(&story);
    assert_string_equal(profile_text(profile, profile->product), "app");
    assert_string_equal(profile_text(profile, profile->command_line), "./app --fast");
    assert_string_equal(profile_text(profile, profile_main_event(profile).name), "cpu-clock:u");
    assert_int_equal(profile_main_event(profile).period, 1000000);
    assert_true(profile->start_ns <= 3000);
    assert_int_equal(profile->end_ns, 9000);
    assert_int_equal(profile->start_wall_ns - profile->start_ns, 5000001000 - 1000);
    assert_memory_equal(profile_text(profile, profile->os), "Linux ", 6);
    assert_true(profile->cpus_online > 0);
    assert_string_equal(profile_note(profile, "engine"), "perf-trap");
    assert_string_equal(profile_note(profile, "samples"), "2");
    assert_null(profile_note(profile, "version"));
    assert_null(profile_note(profile, "damage"));
    profile_free(profile);
}

static void a_summary_of_endless_lines_is_cut_and_says_so(void **state)
{
    (void)state;
    struct story story = story_begin();
    struct buffer summary = {0};
    buffer_printf(&summary, "version=1\n");
    for (int i = 0; i < PROFILE_NOTES_MAX; i++)
        buffer_printf(&summary, "%d=\n", i);
    SAMPLED(&story, 10, 10, 3000, 0x10);
    perfdata_set_feature(story.writer, PERFDATA_FEATURE_SUMMARY, summary.bytes, summary.size);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->note_count, PROFILE_NOTES_MAX / 2 + 1);
    char expected[16];
    snprintf(expected, sizeof(expected), "%d", PROFILE_NOTES_MAX / 2);
    assert_string_equal(profile_note(profile, "notes_left_out"), expected);
    profile_free(profile);
    buffer_free(&summary);
}

static void a_summary_of_another_version_is_left_alone(void **state)
{
    (void)state;
    struct story story = story_begin();
    static const char summary[] = "version=2\nengine=perf-trap\n";
    SAMPLED(&story, 10, 10, 3000, 0x10);
    perfdata_set_feature(story.writer, PERFDATA_FEATURE_SUMMARY, summary, strlen(summary));
    struct profile *profile = story_end(&story);
    assert_null(profile_note(profile, "engine"));
    profile_free(profile);
}

static void what_lies_before_the_damage_is_loaded(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    for (uint64_t i = 0; i < 100; i++)
        SAMPLED(&story, 10, 10, 2000 + i, 0x10);
    assert_int_equal(perfdata_checkpoint(story.writer), 0);
    uint64_t end = perfdata_bytes_written(story.writer);
    assert_int_equal(perfdata_finish(story.writer), 0);
    perfdata_writer_close(story.writer);
    assert_int_equal(ftruncate(story.fd, (off_t)end - 200), 0);
    close(story.fd);
    struct profile *profile = story_load(&story);
    story_resolve(&story, profile);
    assert_true(profile->sample_count >= 90 && profile->sample_count < 100);
    assert_non_null(profile_note(profile, "damage"));
    profile_free(profile);
    unlink(story.path);
}

static void a_file_that_is_no_capture_is_refused(void **state)
{
    (void)state;
    struct profile *profile;
    struct error error = {{0}};
    assert_int_equal(convert_load(&profile, "/nonexistent/rec.data", NULL, &error), -ENOENT);
    assert_non_null(strstr(error.text, "/nonexistent/rec.data"));
    assert_null(profile);
    assert_true(convert_load(&profile, "/proc/self/cmdline", NULL, &error) < 0);
    assert_null(profile);
}

/* Names are found without a second look at the path: another file may have it by then. */
static void a_capture_is_opened_once(void **state)
{
    (void)state;
    struct story story = story_begin();
    struct capture capture;
    struct profile *profile;
    struct error error = {{0}};
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x1000, "/nowhere/app");
    SAMPLED(&story, 10, 10, 2000, 0x400010, 0x400020);
    story_finish(&story);
    assert_int_equal(capture_open(&capture, story.path, story.path, &error), 0);
    assert_int_equal(unlink(story.path), 0);
    assert_int_equal(convert_load_from(&profile, &capture, NULL, &error), 0);
    assert_int_equal(convert_resolve(profile, &capture, NULL, &error), 0);
    assert_int_equal(profile->sample_count, 1);
    capture_close(&capture);
    profile_free(profile);
}

/* A capture with every kind of record, with random bytes changed: loads or is refused, no more. */
static void damaged_captures_do_no_harm(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped(&story, 10, 0, 0x400000, 0x1000, "/nowhere/app");
    forked(&story, 10, 11, 11, 1000);
    for (uint64_t i = 0; i < 20; i++)
        SAMPLED(&story, 10, 10, 2000 + i, 0x400010 + i, 0x400020 + i);
    perfdata_write_round(story.writer);
    exited(&story, 11, 11, 4000);
    story_finish(&story);
    struct buffer whole = {0};
    assert_int_equal(io_read_file(story.path, &whole, 1 << 20), 0);
    srandom(1);
    for (int round = 0; round < 500; round++) {
        int fd = open(story.path, O_WRONLY | O_TRUNC);
        assert_int_equal(io_write(fd, whole.bytes, whole.size), 0);
        for (long changes = random() % 8; changes >= 0; changes--) {
            uint8_t byte = (uint8_t)random();
            io_pwrite(fd, &byte, 1, (uint64_t)random() % whole.size);
        }
        close(fd);
        struct profile *profile;
        struct error error;
        if (convert_load(&profile, story.path, NULL, &error) == 0) {
            story_resolve_with(&story, profile, NULL);
            profile_free(profile);
        }
    }
    buffer_free(&whole);
    unlink(story.path);
}

/* The kernel ends the first thread then, and gives its id to the one that executes. */
static void a_process_lives_on_when_another_thread_than_its_first_executes(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 70, 70, 1000, "before", true);
    forked(&story, 70, 70, 71, 2000);
    exited(&story, 70, 70, 3000);
    comm(&story, 70, 70, 4000, "after", true);
    exited(&story, 70, 70, 5000);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->process_count, 1);
    assert_int_equal(profile->processes[0].end_ns, 5000);
    assert_int_equal(profile->threads[0].end_ns, 5000);
    assert_string_equal(profile_text(profile, profile->threads[0].name), "after");
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_looked_up_one_byte_before_their_return_address),
        cmocka_unit_test(markers_separate_kernel_code_from_user_code),
        cmocka_unit_test(an_offset_and_an_unknown_place_are_kept),
        cmocka_unit_test(a_later_mapping_replaces_the_older_from_its_time_on),
        cmocka_unit_test(a_program_that_runs_has_nothing_of_the_one_before_its_exec),
        cmocka_unit_test(a_child_starts_with_the_mappings_of_its_parent),
        cmocka_unit_test(a_parent_that_was_not_recorded_is_no_process),
        cmocka_unit_test(a_pid_that_is_used_again_is_another_process),
        cmocka_unit_test(a_renamed_thread_keeps_its_process_name),
        cmocka_unit_test(records_count_by_their_time_and_not_by_their_place),
        cmocka_unit_test(marks_carry_their_own_name_at_one_address),
        cmocka_unit_test(memory_without_a_file_keeps_its_runtime_addresses),
        cmocka_unit_test(a_vdso_of_32_bit_is_not_ours),
        cmocka_unit_test(the_program_is_the_first_lib_and_no_library),
        cmocka_unit_test(the_recordings_facts_are_told),
        cmocka_unit_test(a_summary_of_endless_lines_is_cut_and_says_so),
        cmocka_unit_test(a_summary_of_another_version_is_left_alone),
        cmocka_unit_test(what_lies_before_the_damage_is_loaded),
        cmocka_unit_test(a_file_that_is_no_capture_is_refused),
        cmocka_unit_test(a_capture_is_opened_once),
        cmocka_unit_test(damaged_captures_do_no_harm),
        cmocka_unit_test(a_process_lives_on_when_another_thread_than_its_first_executes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
