/* SPDX-License-Identifier: MIT */
/* Whoever asks the compiler for a map gets one, or knows that there will be none, whichever memory is not there. */
#include "base/array.h"
#include "record/collector_parts.h"
#include "wire/atomic.h"

#include <stdlib.h>

static void *calloc_unless_out(size_t count, size_t size);
static int reserve_unless_out(void **items, size_t *capacity, size_t need, size_t element_bytes);
#define calloc calloc_unless_out
#define array_reserve reserve_unless_out
#include "record/compiler.c"
#undef calloc
#undef array_reserve

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#define PROCESS 3

static struct {
    struct session session;
    struct kept_files kept;
    struct record_summary summary;
    struct perfdata_writer *writer;
    struct collector *collector;
    int file;
    uint32_t allocations_left; /* before memory is out, once; UINT32_MAX: it is not */
} at;

/* The compiler's thread asks, too. */
static bool is_out(void)
{
    uint32_t left = load_relaxed(&at.allocations_left);
    if (left != UINT32_MAX)
        store_relaxed(&at.allocations_left, left - 1);
    return left == 0;
}

static void *calloc_unless_out(size_t count, size_t size)
{
    return is_out() ? NULL : calloc(count, size);
}

static int reserve_unless_out(void **items, size_t *capacity, size_t need, size_t element_bytes)
{
    return is_out() ? -ENOMEM : array_reserve(items, capacity, need, element_bytes);
}

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.allocations_left = UINT32_MAX;
    struct session_config session = {.period_ns = 1000000};
    assert_int_equal(session_open(&at.session, &session, NULL), 0);
    at.file = memfd_create("rec.data", MFD_CLOEXEC);
    struct perfdata_config config = {.period_ns = 1000000, .event_name = "cpu-clock"};
    assert_int_equal(perfdata_writer_open(&at.writer, at.file, &config), 0);
    at.collector = calloc(1, sizeof(*at.collector));
    assert_non_null(at.collector);
    struct collector *collector = at.collector;
    collector->session = &at.session;
    collector->writer = at.writer;
    collector->summary = &at.summary;
    collector->scratch = malloc(SESSION_RING_BYTES);
    collector->end_fd = -1;
    assert_int_equal(compiler_start(&collector->compiler, &at.session, &at.kept, NULL), 0);
    ticks_clock_start(&collector->clock);
    collector->round_ns = collector->clock.first.ns;
    collector->images[PROCESS] = (struct image){.in_use = true,
                                                .pid = getpid(),
                                                .pid_fd = -1,
                                                .engine = ENGINE_TIMER,
                                                .start_ns = collector->round_ns};
    collector->live[collector->live_count++] = PROCESS;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    perfdata_writer_close(at.writer);
    struct compiler *compiler = at.collector->compiler;
    collector_free(at.collector);
    compiler_stop(compiler);
    kept_files_free(&at.kept);
    session_close(&at.session);
    record_summary_free(&at.summary);
    return close(at.file);
}

/* Rounds until no request is left, or there should have been an answer long ago. */
static void take_answers(const struct image *image)
{
    for (int i = 0; i < 2000 && image->map_requests > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        maps_take(at.collector);
    }
    assert_int_equal(image->map_requests, 0);
}

static void a_map_that_there_is_no_memory_for_can_be_asked_for_again(void **state)
{
    struct image *image = &at.collector->images[PROCESS];
    unsigned failed = 0;
    for (uint32_t left = 0; left < 8; left++) {
        store_relaxed(&at.allocations_left, left);
        image_want_map(at.collector, image);
        take_answers(image);
        failed += image->map == NULL;
        store_relaxed(&at.allocations_left, UINT32_MAX);
        image_want_map(at.collector, image);
        take_answers(image);
        assert_non_null(image->map);
        tear_down(state);
        set_up(state);
        image = &at.collector->images[PROCESS];
    }
    assert_in_range(failed, 2, 7);
}

static void mappings_that_were_not_taken_are_still_the_callers(void **state)
{
    (void)state;
    struct image *image = &at.collector->images[PROCESS];
    assert_int_equal(proc_maps_read(&image->first_mappings, getpid()), 0);
    store_relaxed(&at.allocations_left, 0);
    image_want_first_map(at.collector, image);
    assert_int_equal(image->map_requests, 0);
    assert_true(image->first_mappings.count > 0);
    image_want_first_map(at.collector, image);
    assert_int_equal(image->map_requests, 1);
    assert_int_equal(image->first_mappings.count, 0);
    take_answers(image);
    assert_non_null(image->map);
}

/* It waits for that before it unloads code. */
static void a_process_that_asks_for_its_mappings_to_be_read_is_answered(void **state)
{
    (void)state;
    const struct image *image = &at.collector->images[PROCESS];
    struct process_slot *slot = &at.session.rings->processes[PROCESS];
    slot->unknown_count = slot->unknown_wanted = 5;
    store_relaxed(&at.allocations_left, 0);
    maps_answer(at.collector);
    assert_int_equal(image->map_requests, 0);
    maps_answer(at.collector);
    assert_int_equal(image->map_requests, 1);
    take_answers(image);
    assert_int_equal(slot->unknown_seen, 5);
}

static void modules_are_let_go_with_what_is_asked_of_them(void **state)
{
    (void)state;
    struct compiler *compiler = at.collector->compiler;
    struct known_module module = {.users = 1, .state = MODULE_READ};
    bool is_wanted[1] = {true};
    module.is_wanted = is_wanted;
    store_relaxed(&at.allocations_left, 0);
    assert_int_equal(compiler_want_cfi(compiler, &module), -ENOMEM);
    store_relaxed(&at.allocations_left, 0);
    assert_int_equal(compiler_want_rows(compiler, &module, 0), -ENOMEM);
    assert_int_equal(load_relaxed(&module.users), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_map_that_there_is_no_memory_for_can_be_asked_for_again),
        TEST(mappings_that_were_not_taken_are_still_the_callers),
        TEST(a_process_that_asks_for_its_mappings_to_be_read_is_answered),
        TEST(modules_are_let_go_with_what_is_asked_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
