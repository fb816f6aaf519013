/* SPDX-License-Identifier: MIT */
/* Ids of pid namespaces in the summary of a recording: to which processes and threads they belong. */
#include "story.h"

static void summary(struct story *story, const char *text)
{
    assert_int_equal(
        perfdata_set_feature(story->writer, PERFDATA_FEATURE_SUMMARY, text, strlen(text)), 0);
}

static const struct profile_process *process_at(const struct profile *profile, int32_t pid,
                                                uint32_t number)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].pid == pid && profile->processes[i].number == number)
            return &profile->processes[i];
    fail_msg("no process %d", pid);
    return NULL;
}

static int32_t inner_tid_of(const struct profile *profile, int32_t tid)
{
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].tid == tid)
            return profile->threads[i].namespace_tid;
    fail_msg("no thread %d", tid);
    return -1;
}

static void processes_and_threads_have_both_ids(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 2000, "outer", true);
    forked(&story, 10, 20, 20, 3000);
    forked(&story, 20, 20, 21, 4000);
    summary(&story, "version=1\nnamespace_id.0=20 1 3000\nnamespace_id.1=21 2 4000\n"
                    "namespace_id.2=99 3 4000\nnamespace_id.3=10\n");
    struct profile *profile = story_end(&story);
    assert_int_equal(process_at(profile, 10, 0)->namespace_pid, 0);
    assert_int_equal(process_at(profile, 20, 0)->namespace_pid, 1);
    assert_int_equal(inner_tid_of(profile, 10), 0);
    assert_int_equal(inner_tid_of(profile, 20), 1);
    assert_int_equal(inner_tid_of(profile, 21), 2);
    assert_int_equal(profile->note_count, 0);
    profile_free(profile);
}

static void a_reused_pid_is_told_apart_by_time(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 10, 10, 2000, "outer", true);
    for (uint64_t i = 0; i < 3; i++) {
        forked(&story, 10, 20, 20, 3000 + 1000 * i);
        exited(&story, 20, 20, 3500 + 1000 * i);
    }
    summary(&story, "version=1\nnamespace_id.0=20 7 3100\nnamespace_id.1=20 8 5000\n");
    struct profile *profile = story_end(&story);
    assert_int_equal(process_at(profile, 20, 0)->namespace_pid, 7);
    assert_int_equal(process_at(profile, 20, 1)->namespace_pid, 0);
    assert_int_equal(process_at(profile, 20, 2)->namespace_pid, 8);
    profile_free(profile);
}

static void an_id_read_before_the_first_record_counts(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, 20, 20, 3000, "inner", true);
    summary(&story, "version=1\nnamespace_id.0=20 7 1000\n");
    struct profile *profile = story_end(&story);
    assert_int_equal(process_at(profile, 20, 0)->namespace_pid, 7);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_and_threads_have_both_ids),
        cmocka_unit_test(a_reused_pid_is_told_apart_by_time),
        cmocka_unit_test(an_id_read_before_the_first_record_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
