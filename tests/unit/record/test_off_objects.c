/* SPDX-License-Identifier: MIT */
/* Each object is described once, and descriptions never take most of the time. */
#include "record/off_cpu/waits/off_objects.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define COST_NS UINT64_C(1000000000)

static void a_new_object_waits_once_the_cost_is_high(void **state)
{
    (void)state;
    int ends[2];
    struct off_objects objects = {.begin_ns = monotonic_ns(), .cost_ns = COST_NS};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(off_objects_find(&objects, getpid(), ends[0]), 0);
    assert_int_equal(objects.count, 0);
    objects.begin_ns -= 51 * COST_NS;
    assert_int_equal(off_objects_find(&objects, getpid(), ends[0]), 1);
    assert_true(objects.cost_ns > COST_NS);
    assert_string_equal(objects.objects[0].text, "unix socket");
    objects.begin_ns = monotonic_ns();
    assert_int_equal(off_objects_find(&objects, getpid(), ends[1]), 0);
    assert_int_equal(off_objects_find(&objects, getpid(), ends[0]), 1); /* known */
    off_objects_free(&objects);
    close(ends[0]);
    close(ends[1]);
}

static void time_counts_for_known_numbers_only(void **state)
{
    (void)state;
    struct off_object first[2] = {{.waited_ns = 1}, {.waited_ns = 2}};
    struct off_objects objects = {.objects = first, .count = 1, .capacity = 2};
    off_objects_add(&objects, 1, 10);
    off_objects_add(&objects, 0, 10);
    off_objects_add(&objects, 2, 10);
    assert_int_equal(first[0].waited_ns, 11);
    assert_int_equal(first[1].waited_ns, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_object_waits_once_the_cost_is_high),
        cmocka_unit_test(time_counts_for_known_numbers_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
