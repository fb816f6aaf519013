/* SPDX-License-Identifier: MIT */
/* Events of thread-lifecycle in the profile: the thread of a handle, in every order of records. */
#include "story.h"

#include "record/recorders/recorders.h"

enum { PID = 10, TEXT = 0x10000, HANDLE = 0x7f00 };

static struct story begin(void)
{
    struct story story = {.path = "/tmp/rec-lives-XXXXXX"};
    struct perfdata_config config = {.start_time_ns = 1000};
    recorders_describe(UINT32_MAX, 1000000, config.events);
    story.fd = mkstemp(story.path);
    assert_true(story.fd >= 0);
    assert_int_equal(perfdata_writer_open(&story.writer, story.fd, &config), 0);
    comm(&story, PID, PID, 2000, "app", true);
    mapped(&story, PID, 2000, TEXT, 0x10000, "/nonexistent/app");
    return story;
}

static void act(struct story *story, enum record_event event, uint64_t time_ns, uint64_t handle,
                uint64_t number)
{
    const uint64_t frames[] = {TEXT + 0x10, TEXT + 0x20};
    struct perfdata_sample sample = {.pid = PID,
                                     .tid = PID,
                                     .time_ns = time_ns,
                                     .event = event,
                                     .weight = 1,
                                     .object_avma = handle,
                                     .number = number,
                                     .frames = frames,
                                     .frame_count = 2};
    assert_int_equal(perfdata_write_sample(story->writer, &sample), 0);
}

static void started(struct story *story, uint32_t tid, uint64_t time_ns)
{
    struct perfdata_task task = {
        .pid = PID, .tid = tid, .parent_pid = PID, .parent_tid = PID, .time_ns = time_ns};
    assert_int_equal(perfdata_write_fork(story->writer, &task), 0);
}

/* The first event is the exec of begin(). */
static const struct profile_life_event *life_at(const struct profile *profile, size_t event)
{
    assert_int_equal(profile->life_events[0].kind, PROFILE_PROCESS_EXECUTED);
    return &profile->life_events[1 + event];
}

static int32_t tid_of(const struct profile *profile, size_t event)
{
    uint32_t thread = life_at(profile, event)->thread;
    return thread == PROFILE_NONE ? 0 : profile->threads[thread].tid;
}

static void a_join_is_of_the_latest_thread_with_the_handle(void **state)
{
    (void)state;
    struct story story = begin();
    act(&story, RECORD_EVENT_THREAD_CREATE, 3000, HANDLE, 11);
    started(&story, 11, 3100);
    exited(&story, PID, 11, 3200);
    act(&story, RECORD_EVENT_THREAD_JOIN, 3300, HANDLE, 0);
    act(&story, RECORD_EVENT_THREAD_CREATE, 4000, HANDLE, 12);
    started(&story, 12, 4100);
    act(&story, RECORD_EVENT_THREAD_JOIN, 5000, HANDLE, 0);
    act(&story, RECORD_EVENT_THREAD_JOIN, 6000, HANDLE + 8, 0);
    struct profile *profile = story_end(&story);
    static const int32_t expected[] = {11, 11, 12, 12, 0};
    assert_true(profile->has_life_events);
    assert_int_equal(profile->life_event_count, 1 + 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tid_of(profile, i), expected[i]);
        assert_int_equal(profile->threads[life_at(profile, i)->by].tid, PID);
        assert_int_not_equal(life_at(profile, i)->call, PROFILE_NONE);
    }
    profile_free(profile);
}

/* The creator is faster than the new thread. */
static void a_detach_before_the_start_is_of_the_thread(void **state)
{
    (void)state;
    struct story story = begin();
    act(&story, RECORD_EVENT_THREAD_CREATE, 3000, HANDLE, 11);
    act(&story, RECORD_EVENT_THREAD_DETACH, 3050, HANDLE, 0);
    started(&story, 11, 3100);
    struct profile *profile = story_end(&story);
    assert_int_equal(life_at(profile, 1)->kind, PROFILE_THREAD_DETACHED);
    assert_int_equal(tid_of(profile, 1), 11);
    profile_free(profile);
}

static void a_thread_created_as_detached_has_no_handle(void **state)
{
    (void)state;
    struct story story = begin();
    act(&story, RECORD_EVENT_THREAD_CREATE, 3000, 0, 11);
    started(&story, 11, 3100);
    act(&story, RECORD_EVENT_THREAD_JOIN, 3200, 0, 0);
    struct profile *profile = story_end(&story);
    assert_true(life_at(profile, 0)->is_detached);
    assert_int_equal(tid_of(profile, 0), 11);
    assert_int_equal(tid_of(profile, 1), 0);
    profile_free(profile);
}

static void names_are_events_when_they_change(void **state)
{
    (void)state;
    struct story story = begin();
    act(&story, RECORD_EVENT_THREAD_CREATE, 3000, HANDLE, 11);
    started(&story, 11, 3100);
    comm(&story, PID, 11, 3200, "app", false); /* inherited */
    comm(&story, PID, 11, 3300, "worker", false);
    comm(&story, PID, PID, 3400, "next", true); /* an exec */
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->life_event_count, 1 + 3);
    assert_int_equal(life_at(profile, 1)->kind, PROFILE_THREAD_NAMED);
    assert_int_equal(life_at(profile, 1)->time_ns, 3300);
    assert_string_equal(profile_text(profile, life_at(profile, 1)->name), "worker");
    assert_int_equal(life_at(profile, 2)->kind, PROFILE_PROCESS_EXECUTED);
    profile_free(profile);
}

static void other_recordings_have_no_life_events(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, PID, PID, 2000, "app", true);
    comm(&story, PID, PID, 3000, "renamed", false);
    struct profile *profile = story_end(&story);
    assert_false(profile->has_life_events);
    assert_int_equal(profile->life_event_count, 0);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_join_is_of_the_latest_thread_with_the_handle),
        cmocka_unit_test(a_detach_before_the_start_is_of_the_thread),
        cmocka_unit_test(a_thread_created_as_detached_has_no_handle),
        cmocka_unit_test(names_are_events_when_they_change),
        cmocka_unit_test(other_recordings_have_no_life_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
