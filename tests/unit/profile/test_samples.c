/* SPDX-License-Identifier: MIT */
/* Packed samples are what was packed, whatever their numbers are, and come in the order that was asked for. */
#include "profile/walk.h"

#include "base/containers/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static const uint64_t numbers[] = {0,          1,          127,        128,           16383,
                                   16384,      UINT32_MAX, 1ull << 32, 1ull << 62,    1ull << 63,
                                   UINT64_MAX, 5,          6,          UINT64_MAX - 1};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

/* The nth sample of many, all members of which change, or stay, independently. */
static struct profile_sample nth(size_t n)
{
    return (struct profile_sample){
        .time_ns = numbers[n % NUMBERS],
        .weight = numbers[n / 3 % NUMBERS],
        .call = (uint32_t)numbers[n / 5 % NUMBERS],
        .cpu = (uint16_t)numbers[n / 11 % NUMBERS],
    };
}

static void a_packed_sample_is_what_was_packed(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    struct sample_list list = {0};
    for (size_t i = 0; i < COUNT; i++) {
        const struct profile_sample sample = nth(i);
        assert_int_equal(sample_list_add(&list, &sample), 0);
    }
    assert_int_equal(list.count, COUNT);
    struct sample_reader reader = sample_list_read(&list, 7, 5);
    for (size_t i = 0; i < COUNT; i++) {
        const struct profile_sample sample = nth(i);
        assert_true(sample_reader_next(&reader));
        assert_int_equal(reader.sample.time_ns, sample.time_ns);
        assert_int_equal(reader.sample.weight, sample.weight);
        assert_int_equal(reader.sample.call, sample.call);
        assert_int_equal(reader.sample.event, 5);
        assert_int_equal(reader.sample.cpu, sample.cpu);
        assert_int_equal(reader.sample.thread, 7);
    }
    assert_false(sample_reader_next(&reader));
    sample_list_free(&list);
}

/* What makes ten million of them fit. */
static void usual_samples_take_less_than_ten_bytes(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    struct sample_list list = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct profile_sample sample = {.time_ns = UINT64_C(5000000000000) + i * 1000003ull,
                                              .weight = 1000000,
                                              .call = i * 7919 % 500000,
                                              .cpu = 3};
        assert_int_equal(sample_list_add(&list, &sample), 0);
    }
    assert_true(list.size < 10 * COUNT);
    sample_list_free(&list);
}

static void sorting_keeps_the_order_of_equal_times(void **state)
{
    (void)state;
    static const uint64_t times[] = {5, 3, 5, 3, 9, 0};
    static const uint64_t sorted[] = {5, 1, 3, 0, 2, 4}; /* places in times[] */
    struct sample_list list = {0};
    for (size_t i = 0; i < 6; i++) {
        const struct profile_sample sample = {.time_ns = times[i], .weight = i};
        assert_int_equal(sample_list_add(&list, &sample), 0);
    }
    assert_int_equal(sample_list_sort(&list), 0);
    struct sample_reader reader = sample_list_read(&list, 0, 0);
    for (size_t i = 0; i < 6; i++) {
        assert_true(sample_reader_next(&reader));
        assert_int_equal(reader.sample.weight, sorted[i]);
    }
    assert_int_equal(list.first_ns, 0);
    assert_int_equal(list.last_ns, 9);
    sample_list_free(&list);
}

/* 3 calls at 2 CPUs, many times each, and more than wait at once. */
static void added_up_samples_are_one_a_place_with_their_sum(void **state)
{
    (void)state;
    enum { COUNT = 6000, PLACES = 6 };
    struct sample_list list = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct profile_sample sample = {.time_ns = 1000 + i,
                                              .weight = i,
                                              .call = i % 3 ? i % 3 : PROFILE_NONE,
                                              .cpu = (uint16_t)(i % 2 ? 7 : PROFILE_NO_CPU)};
        assert_int_equal(sample_list_sum(&list, &sample), 0);
    }
    assert_int_equal(sample_list_finish_sums(&list), 0);
    struct sample_reader reader = sample_list_read(&list, 4, 0);
    for (uint32_t i = 0; i < PLACES; i++) { /* in the order in which they were first met */
        assert_true(sample_reader_next(&reader));
        assert_int_equal(reader.sample.call, i % 3 ? i % 3 : PROFILE_NONE);
        assert_int_equal(reader.sample.cpu, i % 2 ? 7 : PROFILE_NO_CPU);
        assert_int_equal(reader.sample.count, COUNT / PLACES);
        /* i, i + 6, i + 12, … */
        assert_int_equal(reader.sample.weight,
                         i * (COUNT / PLACES) + COUNT * (COUNT / PLACES - 1) / 2);
        assert_int_equal(reader.sample.thread, 4);
    }
    assert_false(sample_reader_next(&reader));
    assert_int_equal(list.count, COUNT);
    assert_int_equal(list.first_ns, 1000);
    assert_int_equal(list.last_ns, 1000 + COUNT - 1);
    sample_list_free(&list);
}

static void threads_are_merged_by_time(void **state)
{
    (void)state;
    enum { THREADS = 5, COUNT = 1000 };
    struct profile *profile = profile_new();
    for (size_t i = 0; i < THREADS; i++)
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    for (uint32_t i = 0; i < COUNT; i++) { /* the last thread has none; equal times occur */
        const struct profile_sample sample = {.time_ns = i / 2,
                                              .thread = i * 7919 % (THREADS - 1),
                                              .weight = i,
                                              .call = PROFILE_NONE};
        assert_int_equal(profile_add_sample(profile, &sample), 0);
    }
    struct profile_by_time by_time;
    assert_int_equal(profile_by_time_open(&by_time, profile), 0);
    uint64_t before_ns = 0, sum = 0;
    uint32_t before_thread = 0;
    for (const struct profile_sample *sample; (sample = profile_by_time_next(&by_time));) {
        assert_true(sample->time_ns > before_ns ||
                    (sample->time_ns == before_ns && sample->thread >= before_thread));
        before_ns = sample->time_ns;
        before_thread = sample->thread;
        sum += sample->weight;
    }
    assert_int_equal(sum, COUNT * (COUNT - 1) / 2);
    assert_null(profile_by_time_next(&by_time));
    profile_by_time_close(&by_time);
    profile_free(profile);
}

/* Three events in turn in each of two threads, but none of the last event in the second. */
static void events_are_walked_and_weighed_apart(void **state)
{
    (void)state;
    enum { EVENTS = 3, COUNT = 600 };
    struct profile *profile = profile_new();
    for (size_t i = 0; i < 2; i++)
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct profile_sample sample = {.time_ns = i,
                                              .thread = i % 2,
                                              .weight = i,
                                              .call = PROFILE_NONE,
                                              .event = (uint16_t)(i % EVENTS)};
        if (sample.thread == 0 || sample.event < EVENTS - 1)
            assert_int_equal(profile_add_sample(profile, &sample), 0);
    }
    profile->main_event = 1;
    uint64_t total = 0;
    for (uint32_t thread = 0; thread < 2; thread++) {
        uint32_t first = thread ? 1 : 4, at = first; /* i % 2 == thread, i % 3 == 1 */
        struct profile_walk walk = profile_walk_of(profile, thread, 1);
        for (const struct profile_sample *sample; (sample = profile_walk_next(&walk)); at += 6) {
            assert_int_equal(sample->time_ns, at);
            assert_int_equal(sample->event, 1);
            assert_int_equal(sample->thread, thread);
            total += sample->weight;
        }
        assert_int_equal(at, first + COUNT);
        const struct sample_list *samples = &profile_list_of(profile, thread, 1)->samples;
        assert_int_equal(samples->count, COUNT / 6);
        assert_int_equal(samples->least_weight, first);
        assert_int_equal(samples->most_weight, first + COUNT - 6);
    }
    assert_int_equal(profile_total(profile), total);
    assert_null(profile_list_of(profile, 1, 2));
    struct profile_walk none = profile_walk_of(profile, 1, 2), all = profile_walk_all(profile);
    assert_null(profile_walk_next(&none));
    size_t count = 0;
    while (profile_walk_next(&all))
        count++;
    assert_int_equal(count, COUNT / 6 * 5);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_sample_is_what_was_packed),
        cmocka_unit_test(usual_samples_take_less_than_ten_bytes),
        cmocka_unit_test(sorting_keeps_the_order_of_equal_times),
        cmocka_unit_test(added_up_samples_are_one_a_place_with_their_sum),
        cmocka_unit_test(threads_are_merged_by_time),
        cmocka_unit_test(events_are_walked_and_weighed_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
