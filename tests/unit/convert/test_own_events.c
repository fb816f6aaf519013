/* SPDX-License-Identifier: MIT */
/* Events of rec's own recorders in the profile: unit, kind and weights. */
#include "story.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_recorded_unit_is_the_unit_of_the_weights),
        cmocka_unit_test(the_cpu_clock_stays_the_main_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
