/* SPDX-License-Identifier: MIT */
/* A request for a map gets a map, or an error, whichever allocation fails. */
#include "base/containers/array.h"
#include "record/collector/collector_parts.h"
#include "record/collector/collector_round.h"
#include "record/tables/maps/map_request.h"
#include "wire/atomic.h"

#include <stdlib.h>

static void *calloc_unless_out(size_t count, size_t size);
static int reserve_unless_out(void **items, size_t *capacity, size_t need, size_t element_bytes);
#define calloc calloc_unless_out
#define array_reserve reserve_unless_out
#include "record/tables/compiler.c"
#include "record/tables/maps/map_job.c"
#undef calloc
#undef array_reserve

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "own_memory.h"

static struct {
    struct session session;
    struct open_file_cache kept;
    struct record_summary summary;
    struct perfdata_writer *writer;
    struct record_options options;
    struct compiler *compiler;
    struct collector *collector;
    int file;
    struct own_memory memory;
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
    struct perfdata_config config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    assert_int_equal(perfdata_writer_open(&at.writer, at.file, &config), 0);
    at.memory = own_memory_make();
    at.collector = collector_new();
    assert_non_null(at.collector);
    assert_int_equal(compiler_start(&at.compiler, &at.session, &at.kept, NULL), 0);
    const struct collector_config parts = {.session = &at.session,
                                           .compiler = at.compiler,
                                           .writer = at.writer,
                                           .options = &at.options,
                                           .summary = &at.summary};
    assert_int_equal(collector_init(at.collector, &parts), 0);
    const struct process process = {.pid = getpid(),
                                    .pid_fd = -1,
                                    .memory = own_memory_mapped(&at.memory, &at.session),
                                    .engine = ENGINE_TIMER,
                                    .start_ns = at.collector->round.now_ns};
    process_table_add(&at.collector->processes, &process);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    perfdata_writer_close(at.writer);
    collector_free(at.collector);
    compiler_stop(at.compiler);
    open_file_cache_free(&at.kept);
    session_close(&at.session);
    own_memory_free(&at.memory);
    record_summary_free(&at.summary);
    return close(at.file);
}

/* Rounds until no request is left, or there should have been an answer long ago. */
static void take_answers(const struct process *process)
{
    for (int i = 0; i < 2000 && process->map_requests > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        collector_take_maps(at.collector);
    }
    assert_int_equal(process->map_requests, 0);
}

static void a_map_that_there_is_no_memory_for_can_be_asked_for_again(void **state)
{
    struct process *process = &at.collector->processes.processes[0];
    unsigned failed = 0;
    for (uint32_t left = 0; left < 8; left++) {
        store_relaxed(&at.allocations_left, left);
        map_request(at.compiler, process, at.collector->round.now_ns);
        take_answers(process);
        failed += process->map == NULL;
        store_relaxed(&at.allocations_left, UINT32_MAX);
        map_request(at.compiler, process, at.collector->round.now_ns);
        take_answers(process);
        assert_non_null(process->map);
        tear_down(state);
        set_up(state);
        process = &at.collector->processes.processes[0];
    }
    assert_in_range(failed, 2, 7);
}

static void mappings_that_were_not_taken_are_still_the_callers(void **state)
{
    (void)state;
    struct process *process = &at.collector->processes.processes[0];
    assert_int_equal(proc_maps_read(&process->first_mappings, getpid()), 0);
    store_relaxed(&at.allocations_left, 0);
    map_request_first(at.compiler, process);
    assert_int_equal(process->map_requests, 0);
    assert_true(process->first_mappings.count > 0);
    map_request_first(at.compiler, process);
    assert_int_equal(process->map_requests, 1);
    assert_int_equal(process->first_mappings.count, 0);
    take_answers(process);
    assert_non_null(process->map);
}

/* It waits for that before it unloads code. */
static void a_process_that_asks_for_its_mappings_to_be_read_is_answered(void **state)
{
    (void)state;
    const struct process *process = &at.collector->processes.processes[0];
    struct process_slot *slot = &at.memory.shared->process;
    slot->unknown_count = slot->unknown_requested = 5;
    store_relaxed(&at.allocations_left, 0);
    process_maps_answer(&at.collector->maps);
    assert_int_equal(process->map_requests, 0);
    process_maps_answer(&at.collector->maps);
    assert_int_equal(process->map_requests, 1);
    take_answers(process);
    assert_int_equal(slot->unknown_seen, 5);
}

static void modules_are_let_go_with_what_is_asked_of_them(void **state)
{
    (void)state;
    struct known_module module = {.users = 1, .state = MODULE_READ};
    bool is_requested[1] = {true};
    module.is_requested = is_requested;
    store_relaxed(&at.allocations_left, 0);
    assert_int_equal(compiler_request_cfi(at.compiler, &module), -ENOMEM);
    store_relaxed(&at.allocations_left, 0);
    assert_int_equal(compiler_request_rows(at.compiler, &module, 0), -ENOMEM);
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
