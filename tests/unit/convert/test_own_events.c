/* SPDX-License-Identifier: MIT */
/* Events of rec's own recorders in the profile: unit, kind and weights. */
#include "story.h"

#include <errno.h>

enum { PID = 10, TEXT = 0x10000 };

static void write_event(struct story *story, uint32_t event, uint64_t time_ns, uint64_t weight)
{
    const uint64_t frames[] = {TEXT + 0x10, TEXT + 0x20};
    struct perfdata_sample sample = {.pid = PID,
                                     .tid = PID,
                                     .time_ns = time_ns,
                                     .event = event,
                                     .weight = weight,
                                     .frames = frames,
                                     .frame_count = 2};
    assert_int_equal(perfdata_write_sample(story->writer, &sample), 0);
}

/* A program with a CPU sample of 5 ns and two samples of the other event, 30 and 40. */
static struct profile *load_with(const char *name, const char *unit)
{
    const struct perfdata_event_row row = {.name = name, .unit = unit};
    struct story story = story_begin_with(&row);
    comm(&story, PID, PID, 2000, "app", true);
    mapped(&story, PID, 2000, TEXT, 0x10000, "/nonexistent/app");
    write_event(&story, 1, 3000, 30);
    write_event(&story, 0, 4000, 5);
    write_event(&story, 1, 5000, 40);
    return story_end(&story);
}

static uint64_t weight_of(const struct profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (strcmp(profile_text(profile, profile->events[i].name), name) == 0)
            return profile_list_of(profile, 0, i)->samples.weight;
    return 0;
}

static const struct profile_event *event_named(const struct profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (strcmp(profile_text(profile, profile->events[i].name), name) == 0)
            return &profile->events[i];
    return NULL;
}

static void the_recorded_unit_is_the_unit_of_the_weights(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit;
        enum profile_unit expected;
        bool is_off_cpu;
    } cases[] = {
        {"off-cpu", "ns", PROFILE_NANOSECONDS, true},
        {"lock-wait", "ns", PROFILE_NANOSECONDS, false},
        {"thread-create", "count", PROFILE_COUNT, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile *profile = load_with(cases[i].name, cases[i].unit);
        const struct profile_event *event = event_named(profile, cases[i].name);
        assert_non_null(event);
        assert_int_equal(event->unit, cases[i].expected);
        assert_int_equal(event->is_off_cpu, cases[i].is_off_cpu);
        assert_int_equal(weight_of(profile, cases[i].name), 70);
        assert_int_equal(weight_of(profile, "cpu-clock:u"), 5);
        profile_free(profile);
    }
}

static void the_cpu_clock_stays_the_main_event(void **state)
{
    (void)state;
    struct profile *profile = load_with("off-cpu", "ns");
    assert_string_equal(profile_text(profile, profile_main_event(profile).name), "cpu-clock:u");
    assert_int_equal(profile_total(profile), 5);
    profile_free(profile);
}

static int load_metric(const struct story *story, enum profile_metric metric, const char *event,
                       struct profile **profile, struct error *error)
{
    const struct convert_options options = {.filter = {.metric = metric, .event = event}};
    return convert_load(profile, story->path, &options, error);
}

/* A capture without CPU samples: CPU time is zero, and known. */
static void a_metric_is_the_main_event(void **state)
{
    (void)state;
    static const uint64_t totals[] = {30, 0, 30, 30};
    const struct perfdata_event_row row = {.name = "off-cpu", .unit = "ns"};
    struct story story = story_begin_with(&row);
    struct error error = {{0}};
    comm(&story, PID, PID, 2000, "app", true);
    write_event(&story, 1, 3000, 30);
    story_finish(&story);
    for (enum profile_metric metric = PROFILE_MAIN_EVENT; metric < PROFILE_METRICS; metric++) {
        struct profile *profile;
        assert_int_equal(load_metric(&story, metric, NULL, &profile, &error), 0);
        assert_int_equal(profile_total(profile), totals[metric]);
        assert_int_equal(profile->sample_count, 1);
        profile_free(profile);
    }
    unlink(story.path);
}

static void a_metric_without_its_event_is_an_error(void **state)
{
    (void)state;
    struct story story = story_begin();
    struct profile *profile = NULL;
    struct error error = {{0}};
    comm(&story, PID, PID, 2000, "app", true);
    write_event(&story, 0, 4000, 5);
    story_finish(&story);
    assert_true(load_metric(&story, PROFILE_WALL, NULL, &profile, &error) < 0);
    assert_non_null(strstr(error.text, "has no off-CPU time: record with `rec --off-cpu"));
    assert_true(load_metric(&story, PROFILE_CPU, "cpu-clock", &profile, &error) < 0);
    assert_non_null(strstr(error.text, "choose one"));
    assert_null(profile);
    unlink(story.path);
}

/* Of the off-CPU event alone, to the thread of that time. */
static void the_value_of_off_cpu_time_is_the_lifetime_of_a_thread(void **state)
{
    (void)state;
    static const struct perfdata_event_row row = {.name = "off-cpu", .unit = "ns"};
    struct story story = story_begin_with(&row);
    const struct perfdata_task task = {.pid = PID, .tid = PID, .time_ns = 6000};
    comm(&story, PID, PID, 2000, "app", true);
    mapped(&story, PID, 2000, TEXT, 0x10000, "/nonexistent/app");
    write_event(&story, 0, 4000, 5);
    assert_int_equal(perfdata_write_value(story.writer, &task, 0, 33), 0);
    assert_int_equal(perfdata_write_value(story.writer, &task, 1, 3500), 0);
    assert_int_equal(perfdata_write_value(story.writer, &task, 2, 1), -EINVAL);
    forked(&story, 1, PID, PID, 7000);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->thread_count, 2);
    assert_int_equal(profile->threads[0].lifetime_ns, 3500);
    assert_int_equal(profile->threads[1].lifetime_ns, 0);
    profile_free(profile);
}

/* Records of --off-cpu-only have no ids. */
static void the_value_of_a_single_event_needs_no_id(void **state)
{
    (void)state;
    static const struct perfdata_event_row row = {.name = "off-cpu", .unit = "ns"};
    struct story story = story_begin_of(NULL, &row);
    const struct perfdata_task task = {.pid = PID, .tid = PID, .time_ns = 6000};
    comm(&story, PID, PID, 2000, "app", true);
    write_event(&story, 1, 4000, 5);
    assert_int_equal(perfdata_write_value(story.writer, &task, 1, 3500), 0);
    struct profile *profile = story_end(&story);
    assert_int_equal(profile->threads[0].lifetime_ns, 3500);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_recorded_unit_is_the_unit_of_the_weights),
        cmocka_unit_test(the_cpu_clock_stays_the_main_event),
        cmocka_unit_test(a_metric_is_the_main_event),
        cmocka_unit_test(a_metric_without_its_event_is_an_error),
        cmocka_unit_test(the_value_of_off_cpu_time_is_the_lifetime_of_a_thread),
        cmocka_unit_test(the_value_of_a_single_event_needs_no_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
