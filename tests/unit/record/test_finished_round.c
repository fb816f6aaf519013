/* SPDX-License-Identifier: MIT */
/* FINISHED_ROUND records come rarely enough for what is under way, and never without new records. */
#include "record/sample/finished_round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { MS = 1000000 };

static struct perfdata_writer *file;
static int fd;

static int set_up(void **state)
{
    (void)state;
    const struct perfdata_config config = {.events = {{.name = "cpu-clock", .period = MS}}};
    fd = memfd_create("rec.data", MFD_CLOEXEC);
    return perfdata_writer_open(&file, fd, &config);
}

static int tear_down(void **state)
{
    (void)state;
    perfdata_writer_close(file);
    return close(fd);
}

static void write_records(size_t bytes)
{
    const struct perfdata_task task = {.pid = 1, .tid = 1};
    uint64_t end = perfdata_bytes_written(file) + bytes;
    while (perfdata_bytes_written(file) < end)
        assert_int_equal(perfdata_write_comm(file, &task, "name", false), 0);
}

static bool is_written(struct finished_round *round, struct finished_round_facts facts)
{
    uint64_t before = perfdata_bytes_written(file);
    finished_round_write(round, file, &facts);
    return perfdata_bytes_written(file) != before;
}

static void a_round_needs_records_and_age_or_size(void **state)
{
    (void)state;
    struct finished_round round = {.begin_bytes = perfdata_bytes_written(file)};
    assert_false(is_written(&round, (struct finished_round_facts){.now_ns = 500 * MS}));
    write_records(100);
    assert_false(is_written(&round, (struct finished_round_facts){.now_ns = 50 * MS}));
    assert_true(is_written(&round, (struct finished_round_facts){.now_ns = 100 * MS}));
    assert_false(is_written(&round, (struct finished_round_facts){.now_ns = 900 * MS}));
    write_records(2 << 20);
    assert_true(is_written(&round, (struct finished_round_facts){.now_ns = 101 * MS}));
}

static void a_round_waits_for_samples_always_and_for_maps_and_rings_up_to_a_second(void **state)
{
    (void)state;
    struct finished_round round = {.begin_bytes = perfdata_bytes_written(file)};
    struct finished_round_facts facts = {.now_ns = 500 * MS, .has_map_requests = true};
    write_records(100);
    assert_false(is_written(&round, facts));
    facts = (struct finished_round_facts){.now_ns = 500 * MS, .has_left = true};
    assert_false(is_written(&round, facts));
    facts.now_ns = 1000 * MS;
    facts.has_pending = true;
    assert_false(is_written(&round, facts));
    facts.has_pending = false;
    assert_true(is_written(&round, facts));
}

/* Records may be older than the round by this time. */
static void a_round_is_held_for_old_records(void **state)
{
    (void)state;
    struct finished_round round = {.begin_bytes = perfdata_bytes_written(file),
                                   .hold_ns = (uint64_t)2000 * MS};
    write_records(2 << 20);
    assert_false(is_written(&round, (struct finished_round_facts){.now_ns = 1999 * MS}));
    assert_true(is_written(&round, (struct finished_round_facts){.now_ns = (uint64_t)2000 * MS}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_round_is_held_for_old_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_round_needs_records_and_age_or_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_round_waits_for_samples_always_and_for_maps_and_rings_up_to_a_second, set_up,
            tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
