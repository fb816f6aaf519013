/* SPDX-License-Identifier: MIT */
/* Which execs are announced to the launcher, and the word of the slot afterwards. */
#include "sampler/exec/departure.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct process process;
static uint32_t alive = 1;
uint32_t *process_alive = &alive;
static struct process_slot slot;
static const struct process_verdict verdict;
static struct tables *tables;
static int waits;
static bool is_answered, is_vfork_child;

bool launcher_is_stale(void)
{
    return false;
}

bool process_is_another(void)
{
    return is_vfork_child;
}

/* The launcher: sees the request, and answers or not. */
bool launcher_await(uint32_t *word, uint32_t value, uint64_t longest_ns)
{
    waits++;
    assert_true(longest_ns > 0);
    assert_ptr_equal(word, &slot.departure);
    assert_int_equal(*word, DEPARTURE_REQUESTED);
    assert_int_equal(slot.departure_pid, getpid());
    if (is_answered)
        *word = value;
    return is_answered;
}

static int set_up(void **state)
{
    (void)state;
    tables = calloc(1, sizeof(*tables));
    tables->header.takes_departures = 1;
    memset(&slot, 0, sizeof(slot));
    process = (struct process){
        .tables = tables, .slot = &slot, .verdict = &verdict, .engine = ENGINE_PERF_TRAP};
    is_answered = true;
    is_vfork_child = false;
    waits = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(tables);
    return 0;
}

static void programs_without_the_sampler_are_announced(void **state)
{
    (void)state;
    departure_announce(EXEC_TAKES_SAMPLER);
    departure_announce(EXEC_UNSUITABLE);
    assert_int_equal(waits, 0);
    departure_announce(EXEC_STATIC);
    assert_int_equal(slot.departure, DEPARTURE_DONE);
    departure_forget();
    assert_int_equal(slot.departure, DEPARTURE_NONE);
    departure_announce(EXEC_OTHER_LOADER);
    assert_int_equal(waits, 2);
}

static void a_vfork_child_leaves_the_word_of_its_parent_free(void **state)
{
    (void)state;
    is_vfork_child = true;
    departure_announce(EXEC_STATIC);
    assert_int_equal(waits, 1);
    assert_int_equal(slot.departure, DEPARTURE_NONE);
}

static void another_thread_with_the_word_is_not_disturbed(void **state)
{
    (void)state;
    slot.departure = DEPARTURE_REQUESTED;
    departure_announce(EXEC_STATIC);
    assert_int_equal(waits, 0);
    assert_int_equal(slot.departure, DEPARTURE_REQUESTED);
}

static void a_late_launcher_finds_no_request(void **state)
{
    (void)state;
    is_answered = false;
    departure_announce(EXEC_STATIC);
    assert_int_equal(slot.departure, DEPARTURE_NONE);
}

static void without_perf_ring_nothing_is_announced(void **state)
{
    (void)state;
    tables->header.takes_departures = 0;
    departure_announce(EXEC_STATIC);
    assert_int_equal(waits, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(programs_without_the_sampler_are_announced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_vfork_child_leaves_the_word_of_its_parent_free, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_thread_with_the_word_is_not_disturbed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_late_launcher_finds_no_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_perf_ring_nothing_is_announced, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
