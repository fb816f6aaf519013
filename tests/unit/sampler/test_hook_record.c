/* SPDX-License-Identifier: MIT */
/* Records of hooks: a record is written, or counted by the cause of its loss. The walk and the doorbell are
 * replaced. */
#include "sampler/recorders/hook_record.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

struct process process;
static uint32_t alive;
uint32_t *process_alive = &alive;
__thread struct thread_state *thread_self;

static struct thread_state thread;
static struct thread_slot thread_slot;
static struct process_verdict verdict;
static struct ring_control control;
static uint8_t ring_data[SESSION_RING_BYTES];
static unsigned walks;
static bool is_ring_full;

bool walk_write(const struct walk_request *request)
{
    assert_ptr_equal(request->thread, &thread);
    assert_int_equal(thread.busy, BUSY_HOOK);
    walks++;
    return !is_ring_full;
}

void ring_doorbell(void)
{
}

static int set_up(void **state)
{
    struct tables *tables = mmap(NULL, sizeof(*tables), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(tables, MAP_FAILED);
    tables->header.stale_ticks = UINT64_MAX / 2;
    tables->header.heartbeat_ticks = arch_ticks();
    thread_slot = (struct thread_slot){0};
    control = (struct ring_control){0};
    verdict = (struct process_verdict){0};
    thread = (struct thread_state){.slot = &thread_slot,
                                   .ring = {.control = &control, .data = ring_data}};
    process = (struct process){.tables = tables, .verdict = &verdict, .engine = ENGINE_PERF_TRAP};
    thread_self = &thread;
    alive = 1;
    walks = 0;
    is_ring_full = false;
    *state = tables;
    return 0;
}

static int tear_down(void **state)
{
    return munmap(*state, sizeof(struct tables));
}

static void record_both(void)
{
    const struct record_object object = {.avma = 1};
    hook_record_stack(&thread.ring, RECORD_EVENT_THREAD_JOIN, &object);
    hook_record_name(3, "name");
}

/* Of the stack and the name, nothing was written. */
static void expect_lost(enum event_loss cause)
{
    for (enum event_loss i = 0; i < EVENT_LOSSES; i++)
        assert_int_equal(thread_slot.lost_events[i], i == cause ? 2 : 0);
    assert_int_equal(control.head, 0);
}

static void records_that_are_written_are_not_lost(void **state)
{
    (void)state;
    record_both();
    assert_int_equal(walks, 1);
    assert_true(control.head > 0);
    for (enum event_loss i = 0; i < EVENT_LOSSES; i++)
        assert_int_equal(thread_slot.lost_events[i], 0);
    assert_int_equal(thread.busy, BUSY_NOT);
}

static void a_launcher_that_is_away_costs_events_by_this_cause(void **state)
{
    struct tables *tables = *state;
    tables->header.stale_ticks = 1;
    tables->header.heartbeat_ticks = arch_ticks() - 1000000;
    record_both();
    assert_int_equal(walks, 0);
    expect_lost(EVENT_LOST_AWAY);
    assert_int_equal(thread.busy, BUSY_NOT);
}

/* A signal handler of the program calls a hook. */
static void a_hook_within_a_hook_loses_its_events(void **state)
{
    (void)state;
    thread.busy = BUSY_HOOK;
    record_both();
    assert_int_equal(walks, 0);
    expect_lost(EVENT_LOST_BUSY);
    assert_int_equal(thread.busy, BUSY_HOOK); /* still the first hook's */
}

static void a_full_ring_loses_events(void **state)
{
    (void)state;
    is_ring_full = true;
    thread.ring.head = SESSION_RING_BYTES; /* not published */
    record_both();
    expect_lost(EVENT_LOST_RING_FULL);
    assert_int_equal(thread.busy, BUSY_NOT);
}

/* The thread is counted: threads_without_slot. A process that is not sampled any more loses nothing. */
static void without_a_slot_or_sampling_nothing_is_counted(void **state)
{
    (void)state;
    thread_self = NULL;
    record_both();
    thread_self = &thread;
    process.is_retired = 1;
    record_both();
    expect_lost(EVENT_LOSSES);
    assert_int_equal(walks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(records_that_are_written_are_not_lost),
        TEST(a_launcher_that_is_away_costs_events_by_this_cause),
        TEST(a_hook_within_a_hook_loses_its_events),
        TEST(a_full_ring_loses_events),
        TEST(without_a_slot_or_sampling_nothing_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
