/* SPDX-License-Identifier: MIT */
#include "profile/merge.h"

#include "base/containers/array.h"
#include "profile/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct part { /* of a made profile: one thread with one sample of each weight */
    const char *lib, *event;
    enum profile_unit unit;
    int32_t pid;
    uint64_t start_ns, wall_ns;
    const char *leaf; /* below main */
    const uint64_t *weights;
    bool adds_up;
};

static uint32_t add_address(struct profile *profile, uint32_t lib, uint64_t svma, const char *name)
{
    uint32_t address = profile_address_id(profile, lib, svma);
    uint32_t text = profile_string(profile, name);
    const struct profile_func func = {
        .name = text, .system_name = text, .lib = lib, .file = PROFILE_NONE};
    const struct profile_frame frame = {.func = profile_func_id(profile, &func),
                                        .lib = lib,
                                        .svma = svma,
                                        .file = PROFILE_NONE,
                                        .symbol = PROFILE_NONE};
    profile->addresses[address].first_frame = profile_add_frame(profile, &frame);
    profile->addresses[address].frame_count = 1;
    return address;
}

static struct profile *make(const struct part *part)
{
    struct profile *profile = profile_new();
    profile->adds_samples_up = part->adds_up;
    ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity);
    ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    profile->processes[0] = (struct profile_process){
        .pid = part->pid, .name = profile_string(profile, "app"), .start_ns = part->start_ns};
    profile->threads[0].name = profile_string(profile, "app");
    profile->threads[0].cgroup = PROFILE_NONE;
    const struct profile_event event = {
        .name = profile_string(profile, part->event), .unit = part->unit, .period = 10};
    profile_add_event(profile, &event);
    uint32_t lib = profile_lib_id(profile, part->lib, NULL, 0);
    uint32_t outer = profile_call_id(profile, PROFILE_NONE, add_address(profile, lib, 16, "main"));
    uint32_t call = profile_call_id(profile, outer, add_address(profile, lib, 32, part->leaf));
    profile->start_ns = profile->end_ns = part->start_ns;
    for (size_t i = 0; part->weights[i]; i++) {
        profile->end_ns = part->start_ns + 100 * i;
        const struct profile_sample sample = {
            .time_ns = profile->end_ns, .weight = part->weights[i], .call = call};
        assert_int_equal(profile_add_sample(profile, &sample), 0);
    }
    profile->recorded_ns = profile->end_ns - profile->start_ns;
    profile->start_wall_ns = part->wall_ns;
    profile_add_note(profile, "samples", "3");
    profile_add_note(profile, "engine", "timer");
    assert_int_equal(profile_finish_samples(profile), 0);
    profile_link_stacks(profile);
    return profile;
}

static struct profile *merge_share(const struct part *parts, size_t count, uint32_t divisor)
{
    struct profile_merge *merge = profile_merge_new(parts[0].adds_up);
    assert_non_null(merge);
    for (size_t i = 0; i < count; i++) {
        struct profile *profile = make(&parts[i]);
        assert_int_equal(profile_merge_add(merge, profile, divisor), 0);
        profile_free(profile);
    }
    struct profile *sum = profile_merge_finish(merge);
    assert_non_null(sum);
    profile_merge_free(merge);
    return sum;
}

static struct profile *merge(const struct part *parts, size_t count)
{
    return merge_share(parts, count, 1);
}

static const uint64_t few[] = {10, 10, 7, 0}, others[] = {10, 1, 0};

static const struct part same[] = {
    {"/a", "cpu-clock", PROFILE_NANOSECONDS, 5, 1000, 5000000, "work", few, false},
    {"/a", "cpu-clock", PROFILE_NANOSECONDS, 5, 90000, 5500000, "work", others, false},
};

static void equal_stacks_are_one_and_their_weights_add_up(void **state)
{
    (void)state;
    struct profile *sum = merge(same, 2);
    assert_int_equal(profile_total(sum), 38);
    assert_int_equal(sum->sample_count, 5);
    assert_int_equal(sum->lib_count, 1);
    assert_int_equal(sum->address_count, 2);
    assert_int_equal(sum->func_count, 2);
    assert_int_equal(sum->stack_count, 2);
    assert_int_equal(sum->event_count, 1);
    assert_int_equal(sum->thread_count, 2);
    assert_int_equal(sum->processes[0].number, 0);
    assert_int_equal(sum->processes[1].number, 1);
    assert_string_equal(profile_note(sum, "samples"), "6");
    assert_string_equal(profile_note(sum, "engine"), "timer");
    assert_int_equal(sum->note_count, 2);
    profile_free(sum);
}

static void each_profile_keeps_its_own_wall_clock_time(void **state)
{
    (void)state;
    struct profile *sum = merge(same, 2);
    assert_int_equal(sum->start_ns, 5000000);
    assert_int_equal(sum->start_wall_ns, 5000000);
    assert_int_equal(sum->end_ns, 5500100);
    assert_int_equal(sum->recorded_ns, 300);
    struct profile_walk walk = profile_walk_of(sum, 1, 0);
    const struct profile_sample *sample = profile_walk_next(&walk);
    assert_int_equal(sample->time_ns, 5500000);
    assert_int_equal(sum->processes[1].start_ns, 5500000);
    profile_free(sum);
}

static void sums_of_samples_keep_their_counts(void **state)
{
    (void)state;
    struct part parts[] = {same[0], same[1]};
    parts[0].adds_up = parts[1].adds_up = true;
    struct profile *sum = merge(parts, 2);
    assert_int_equal(profile_total(sum), 38);
    assert_int_equal(sum->sample_count, 5);
    struct profile_walk walk = profile_walk_of(sum, 0, 0);
    const struct profile_sample *sample = profile_walk_next(&walk);
    assert_int_equal(sample->count, 3);
    assert_int_equal(sample->weight, 27);
    assert_null(profile_walk_next(&walk));
    profile_free(sum);
}

static void an_address_with_other_frames_is_another_address(void **state)
{
    (void)state;
    struct part parts[] = {same[0], same[1]};
    parts[1].leaf = "other";
    struct profile *sum = merge(parts, 2);
    assert_int_equal(sum->address_count, 3);
    assert_int_equal(sum->stack_count, 3);
    assert_int_equal(profile_total(sum), 38);
    profile_free(sum);
}

static void main_events_of_cpu_time_are_one_event(void **state)
{
    (void)state;
    struct part parts[] = {same[0], same[1]};
    parts[1].event = "task-clock";
    struct profile *sum = merge(parts, 2);
    assert_int_equal(sum->event_count, 1);
    assert_int_equal(profile_total(sum), 38);
    profile_free(sum);
    parts[1].event = "cycles";
    parts[1].unit = PROFILE_COUNT;
    sum = merge(parts, 2);
    assert_int_equal(sum->event_count, 2);
    assert_int_equal(profile_total(sum), 27);
    profile_free(sum);
}

static void fractions_of_a_mean_are_carried_on(void **state)
{
    (void)state;
    struct profile *sum = merge_share(same, 2, 4);
    assert_int_equal(profile_total(sum), 27 / 4 + 11 / 4);
    struct profile_walk walk = profile_walk_of(sum, 0, 0);
    assert_int_equal(profile_walk_next(&walk)->weight, 2);
    assert_int_equal(profile_walk_next(&walk)->weight, 3);
    assert_int_equal(profile_walk_next(&walk)->weight, 1);
    profile_free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_one_and_their_weights_add_up),
        cmocka_unit_test(each_profile_keeps_its_own_wall_clock_time),
        cmocka_unit_test(sums_of_samples_keep_their_counts),
        cmocka_unit_test(an_address_with_other_frames_is_another_address),
        cmocka_unit_test(fractions_of_a_mean_are_carried_on),
        cmocka_unit_test(main_events_of_cpu_time_are_one_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
