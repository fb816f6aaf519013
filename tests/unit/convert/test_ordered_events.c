/* SPDX-License-Identifier: MIT */
#include "convert/load/ordered_events.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    uint64_t last_ns;
    uint32_t last_pid;
    size_t count;
};

/* pid numbers the records in the order of the file. */
static int see(void *context, const struct perfdata_event *event)
{
    struct seen *seen = context;
    assert_true(event->time_ns >= seen->last_ns);
    if (event->time_ns == seen->last_ns)
        assert_true(event->pid > seen->last_pid);
    seen->last_ns = event->time_ns;
    seen->last_pid = event->pid;
    seen->count++;
    return 0;
}

/* As a recorder with late rings writes them: what is added in a round is younger than what was
 * drained before the last mark. */
static void rounds_come_out_in_the_order_of_time(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ordered_events events = {.handle = see, .context = &seen};
    uint32_t pid = 0;
    size_t held_most = 0;
    srandom(1);
    for (uint64_t round = 0; round < 100; round++) {
        for (int i = 0; i < 20; i++) {
            uint64_t base = round * 50;
            struct perfdata_event event = {
                .kind = PERFDATA_EXIT, .pid = ++pid, .time_ns = base + (uint64_t)random() % 90 + 1};
            assert_int_equal(ordered_events_add(&events, &event), 0);
        }
        held_most = events.count > held_most ? events.count : held_most;
        assert_int_equal(ordered_events_flush(&events), 0);
    }
    assert_int_equal(ordered_events_finish(&events), 0);
    assert_int_equal(seen.count, pid);
    assert_true(held_most <= 80);
    ordered_events_free(&events);
}

static int keep_text(void *context, const struct perfdata_event *event)
{
    char *text = context;
    strcat(text, event->name ? event->name : event->path);
    for (size_t i = 0; i < event->callchain_count; i++)
        text[strlen(text)] = (char)event->callchain[i];
    return 0;
}

static void what_an_event_points_to_is_kept(void **state)
{
    (void)state;
    char text[32] = "";
    struct ordered_events events = {.handle = keep_text, .context = text};
    char name[] = "name", path[] = "path";
    uint64_t chain[] = {'x', 'y'};
    ordered_events_add(&events, &(struct perfdata_event){.time_ns = 2, .path = path});
    ordered_events_add(&events,
                       &(struct perfdata_event){
                           .time_ns = 1, .name = name, .callchain = chain, .callchain_count = 2});
    memset(name, 0, sizeof(name));
    memset(path, 0, sizeof(path));
    memset(chain, 0, sizeof(chain));
    assert_int_equal(ordered_events_finish(&events), 0);
    assert_string_equal(text, "namexypath");
    ordered_events_free(&events);
}

static int check_capture(void *context, const struct perfdata_event *event)
{
    ++*(int *)context;
    assert_int_equal(event->user_registers[1], event->time_ns);
    assert_int_equal(event->user_stack[9999], event->time_ns);
    assert_int_equal(event->raw[0], event->time_ns);
    assert_int_equal(event->branches[0].to_avma, event->time_ns);
    return 0;
}

/* More than one block of them, so that blocks come and go. */
static void registers_and_stacks_are_kept(void **state)
{
    (void)state;
    int calls = 0;
    struct ordered_events events = {.handle = check_capture, .context = &calls};
    static uint8_t stack[10000];
    for (uint8_t i = 200; i > 0; i--) {
        memset(stack, i, sizeof(stack));
        uint64_t registers[] = {0, i};
        struct perfdata_branch branch = {.to_avma = i};
        struct perfdata_event event = {.time_ns = i,
                                       .user_registers_mask = 0x101,
                                       .user_registers = registers,
                                       .user_stack = stack,
                                       .user_stack_bytes = sizeof(stack),
                                       .raw = &i,
                                       .raw_bytes = 1,
                                       .branches = &branch,
                                       .branch_count = 1};
        assert_int_equal(ordered_events_add(&events, &event), 0);
        if (i % 50 == 0)
            assert_int_equal(ordered_events_flush(&events), 0);
    }
    assert_int_equal(ordered_events_finish(&events), 0);
    assert_int_equal(calls, 200);
    ordered_events_free(&events);
}

static int check_plain(void *context, const struct perfdata_event *event)
{
    struct seen *seen = context;
    assert_int_equal(event->time_ns, ++seen->count);
    if (event->is_plain) {
        assert_int_equal(event->callchain_count, 2);
        assert_int_equal(event->callchain[1], event->time_ns + 1);
        assert_int_equal(event->callchain_hash, event->time_ns + 2);
        assert_null(event->path);
        assert_int_equal(event->parent_tid, 0);
    } else {
        assert_string_equal(event->path, "path");
        assert_int_equal(event->parent_tid, event->time_ns);
    }
    return 0;
}

/* Nothing of the others is in them, which have more members. */
static void plain_samples_come_out_as_they_went_in(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct seen seen = {0};
    struct ordered_events events = {.handle = check_plain, .context = &seen};
    for (uint32_t i = COUNT; i > 0; i--) {
        const uint64_t chain[] = {i, i + 1};
        struct perfdata_event plain = {.is_plain = true,
                                       .time_ns = i,
                                       .callchain = chain,
                                       .callchain_count = 2,
                                       .callchain_hash = i + 2};
        struct perfdata_event other = {.time_ns = i, .path = "path", .parent_tid = i};
        assert_int_equal(ordered_events_add(&events, i % 3 ? &plain : &other), 0);
    }
    assert_int_equal(ordered_events_finish(&events), 0);
    assert_int_equal(seen.count, COUNT);
    ordered_events_free(&events);
}

static int refuse(void *context, const struct perfdata_event *event)
{
    (void)event;
    ++*(int *)context;
    return -ENOMEM;
}

static void an_error_ends_it(void **state)
{
    (void)state;
    int calls = 0;
    struct ordered_events events = {.handle = refuse, .context = &calls};
    ordered_events_add(&events, &(struct perfdata_event){.time_ns = 2});
    ordered_events_add(&events, &(struct perfdata_event){.time_ns = 1});
    assert_int_equal(ordered_events_finish(&events), -ENOMEM);
    assert_int_equal(calls, 1);
    ordered_events_free(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_come_out_in_the_order_of_time),
        cmocka_unit_test(what_an_event_points_to_is_kept),
        cmocka_unit_test(registers_and_stacks_are_kept),
        cmocka_unit_test(plain_samples_come_out_as_they_went_in),
        cmocka_unit_test(an_error_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
