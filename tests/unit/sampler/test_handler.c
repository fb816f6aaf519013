/* SPDX-License-Identifier: MIT */
/*
 * The handler with everything around it replaced: what walks stacks and what answers foreign signals only
 * take notes here. The time that the kernel would bill is the tests' own bookkeeping.
 */
#include "sampler/sample/own_signal.c"
#include "sampler/sample/sample.c"
#include "sampler/signals/handler.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define PERIOD_NS 1000000
#define INTERVAL_NS 20000000
#define OUR_DATA 0x1234567890abcdef

struct process process;
static uint32_t alive;
uint32_t *process_alive = &alive;
__thread struct thread_state *thread_self;

static struct {
    unsigned records, delivered;
    uint64_t weight_ns, kernel_ns;
    uint64_t takes_ticks; /* of a walk */
    bool ring_is_full;
    bool interrupts; /* the walk is interrupted by another signal */
} seen;

static struct thread_state thread;
static struct thread_slot thread_slot;
static struct process_slot process_slot;
static struct process_verdict verdict;
static ucontext_t context;

static void raise_event(void);

bool walk_record(struct thread_state *self, const ucontext_t *where, uint64_t ticks,
                 uint64_t weight_ns, uint8_t flags)
{
    assert_ptr_equal(self, &thread);
    assert_ptr_equal(where, &context);
    if (seen.interrupts) {
        seen.interrupts = false;
        raise_event();
    }
    while (arch_ticks() - ticks < seen.takes_ticks)
        ;
    if (seen.ring_is_full)
        return false;
    seen.records++;
    seen.weight_ns += weight_ns;
    if (flags & RECORD_KERNEL)
        seen.kernel_ns += weight_ns;
    return true;
}

void deliver_foreign(int number, siginfo_t *info, void *where)
{
    (void)number;
    (void)info;
    (void)where;
    seen.delivered++;
}

/* As the kernel fills it in for an event; sig_data follows the address. */
static void raise_event_with(int code, uint64_t data)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = SIGTRAP;
    info.si_code = code;
    memcpy((char *)&info + 24, &data, sizeof(data));
    handler(SIGTRAP, &info, &context);
}

/* At once, whenever the last one was. */
static void raise_event_now(void)
{
    raise_event_with(TRAP_PERF, OUR_DATA);
}

/* Long after the last one: the tests are faster than any program, the progress rule would notice. */
static void raise_event(void)
{
    thread.last_end_ticks = 0;
    raise_event_now();
}

static void raise_timer_of(const void *owner, int overruns)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_code = SI_TIMER;
    info.si_overrun = overruns;
    info.si_value.sival_ptr = (void *)(uintptr_t)owner;
    handler(process.signal, &info, &context);
}

static void raise_timer(int overruns)
{
    thread.last_end_ticks = 0;
    raise_timer_of(&own_signal_timer_token, overruns);
}

static void interrupted_in(bool system_call)
{
    greg_t *registers = context.uc_mcontext.gregs;
    registers[REG_RIP] = 0x401000;
    registers[REG_EFL] = 0x246;
    registers[REG_RCX] = system_call ? 0x401000 : 7;
    registers[REG_R11] = 0x246;
}

static int set_up(void **state)
{
    struct tables *tables = mmap(NULL, sizeof(*tables), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(tables, MAP_FAILED);
    tables->header.period_ns = PERIOD_NS;
    tables->header.kernel_interval_ns = INTERVAL_NS;
    tables->header.sig_data = OUR_DATA;
    tables->header.stale_ticks = UINT64_MAX / 2;
    tables->header.heartbeat_ticks = arch_ticks();
    memset(&seen, 0, sizeof(seen));
    memset(&thread, 0, sizeof(thread));
    memset(&thread_slot, 0, sizeof(thread_slot));
    memset(&process_slot, 0, sizeof(process_slot));
    memset(&context, 0, sizeof(context));
    thread.slot = &thread_slot;
    verdict = (struct process_verdict){0};
    process = (struct process){.tables = tables,
                               .slot = &process_slot,
                               .verdict = &verdict,
                               .engine = ENGINE_PERF_TRAP,
                               .signal = SIGTRAP};
    thread_self = &thread;
    alive = 1;
    interrupted_in(false);
    *state = tables;
    return 0;
}

static int tear_down(void **state)
{
    return munmap(*state, sizeof(struct tables));
}

static void use_timer_engine(void)
{
    process.engine = ENGINE_TIMER;
    process.signal = SIGPROF;
}

static void an_event_of_ours_weighs_one_period(void **state)
{
    (void)state;
    raise_event();
    assert_int_equal(seen.records, 1);
    assert_int_equal(seen.weight_ns, PERIOD_NS);
    assert_int_equal(seen.kernel_ns, 0);
    assert_int_equal(thread.accounted_ns, PERIOD_NS);
    assert_int_equal(thread.busy, 0);
}

static void other_peoples_signals_are_passed_on(void **state)
{
    (void)state;
    raise_event_with(TRAP_PERF, OUR_DATA + 1); /* somebody else's event */
    raise_event_with(TRAP_BRKPT, OUR_DATA);    /* int3 */
    raise_event_with(SI_USER, OUR_DATA);       /* kill() */
    raise_event_with(SI_TKILL, OUR_DATA);
    raise_timer_of(&seen, 0); /* a timer of the program */
    assert_int_equal(seen.delivered, 5);
    assert_int_equal(seen.records, 0);
    use_timer_engine();
    raise_event(); /* no events are ours under this engine */
    assert_int_equal(seen.delivered, 6);
    assert_int_equal(seen.records, 0);
}

static void a_timer_that_fired_late_weighs_what_it_missed(void **state)
{
    (void)state;
    use_timer_engine();
    raise_timer(0);
    raise_timer(3);
    raise_timer(-1); /* the kernel's counter is an int that saturates */
    assert_int_equal(seen.records, 3);
    assert_int_equal(seen.weight_ns, 6 * PERIOD_NS);
}

static void a_timer_on_the_way_out_of_a_system_call_counts_for_the_kernel(void **state)
{
    (void)state;
    use_timer_engine();
    interrupted_in(true);
    raise_timer(1);
    interrupted_in(false);
    raise_timer(0);
    assert_int_equal(seen.kernel_ns, 2 * PERIOD_NS);
    assert_int_equal(seen.weight_ns, 3 * PERIOD_NS);
}

/* One look at the kernel's share after this much user time, sampled, of an interval. */
static void interval_with_user_periods(int periods)
{
    for (int i = 0; i < periods; i++)
        raise_event();
    raise_timer(0);
}

static void time_that_events_saw_is_not_counted_again(void **state)
{
    (void)state;
    interrupted_in(true);
    for (int i = 0; i < 10; i++)
        interval_with_user_periods(INTERVAL_NS / PERIOD_NS);
    assert_int_equal(seen.kernel_ns, 0);
    assert_int_equal(seen.weight_ns, 10 * INTERVAL_NS);
}

static void time_that_no_event_saw_is_the_kernels(void **state)
{
    (void)state;
    interrupted_in(true);
    for (int i = 0; i < 10; i++)
        interval_with_user_periods(5);
    assert_int_equal(seen.weight_ns - seen.kernel_ns, 10 * 5 * PERIOD_NS);
    assert_int_equal(seen.kernel_ns, 10 * (INTERVAL_NS - 5 * PERIOD_NS));
}

#define RESERVE_NS (INTERVAL_NS / 2)

/* Outside of system calls it could be noise: a reserve is kept until there is as much again, for what may come. */
static void kernel_time_seen_from_user_code_waits(void **state)
{
    (void)state;
    interval_with_user_periods(11);
    interval_with_user_periods(11);
    assert_int_equal(seen.kernel_ns, 0);
    interval_with_user_periods(11);
    assert_int_equal(seen.kernel_ns, 3 * 9 * PERIOD_NS - RESERVE_NS);
    interrupted_in(true);
    interval_with_user_periods(INTERVAL_NS / PERIOD_NS);
    assert_int_equal(seen.kernel_ns, 3 * 9 * PERIOD_NS);
}

/* The rest was there before: page faults, which have been waiting. */
static void a_system_call_takes_no_more_than_passed_since_the_last_look(void **state)
{
    (void)state;
    interval_with_user_periods(1);
    assert_int_equal(seen.kernel_ns, 0);
    interrupted_in(true);
    raise_timer(0);
    assert_int_equal(seen.kernel_ns, INTERVAL_NS);
}

/* The tick strikes where time is spent, so single looks are off by some; not their sum. */
static void whatever_the_mixture_all_time_is_accounted(void **state)
{
    (void)state;
    uint64_t billed_ns = 0;
    uint32_t random = 7;
    for (int i = 0; i < 2000; i++) {
        random = random * 1103515245 + 12345;
        int periods = (int)(random >> 16) % (INTERVAL_NS / PERIOD_NS + 1);
        interrupted_in((random >> 13) & 1);
        interval_with_user_periods(periods);
        billed_ns += INTERVAL_NS;
    }
    uint64_t slack_ns = 3 * INTERVAL_NS;
    assert_in_range(seen.weight_ns, billed_ns - slack_ns, billed_ns + slack_ns);
    assert_int_equal(thread.accounted_ns, seen.weight_ns);
}

static void before_sampling_begins_nothing_counts(void **state)
{
    struct tables *tables = *state;
    interrupted_in(true);
    tables->header.quiet = 1;
    raise_event();
    raise_timer(0);
    raise_timer(7);
    assert_int_equal(seen.records, 0);
    assert_int_equal(thread.accounted_ns, 0);
    tables->header.quiet = 0;
    /* Of this interval nobody knows how much lay before: its kernel time is left to the last account. */
    interval_with_user_periods(5);
    assert_int_equal(seen.kernel_ns, 0);
    interval_with_user_periods(5);
    assert_int_equal(seen.kernel_ns, INTERVAL_NS - 5 * PERIOD_NS);
    assert_int_equal(thread.accounted_ns, INTERVAL_NS + 5 * PERIOD_NS);
}

/* One that fires late stands for time from before, too. */
static void the_first_expiry_after_sampling_began_is_left_out(void **state)
{
    struct tables *tables = *state;
    use_timer_engine();
    tables->header.quiet = 1;
    raise_timer(0);
    tables->header.quiet = 0;
    raise_timer(3);
    assert_int_equal(seen.records, 0);
    raise_timer(3);
    assert_int_equal(seen.weight_ns, 4 * PERIOD_NS);
}

/* More user time than the clock says cannot be made up for by later kernel time. */
static void a_surplus_is_forgotten_after_one_interval_and_two_periods(void **state)
{
    (void)state;
    interrupted_in(true);
    interval_with_user_periods(10 * INTERVAL_NS / PERIOD_NS);
    for (int i = 0; i < 3; i++)
        raise_timer(0);
    assert_int_equal(seen.kernel_ns, 2 * INTERVAL_NS - 2 * PERIOD_NS);
}

/* Long enough that no interruption of the test's own comes near. */
#define SLOW_TICKS 30000000

static void after_slow_samples_signals_only_add_weight(void **state)
{
    (void)state;
    seen.takes_ticks = SLOW_TICKS;
    raise_event_now();
    raise_event_now();
    assert_int_equal(seen.records, 2);
    for (int i = 0; i < 10; i++) {
        thread.last_end_ticks = arch_ticks(); /* however long this test itself was kept waiting */
        raise_event_now();
    }
    assert_int_equal(seen.records, 2);
    assert_int_equal(thread_slot.merged, 10);
    assert_int_equal(seen.weight_ns, 2 * PERIOD_NS);
    while (arch_ticks() - thread.last_end_ticks < 2 * thread.usual_cost_ticks)
        ;
    raise_event_now();
    assert_int_equal(seen.records, 3);
    assert_int_equal(seen.weight_ns, 13 * PERIOD_NS);
    assert_int_equal(thread.accounted_ns, 13 * PERIOD_NS);
    assert_int_equal(thread.merged_ns, 0);
}

static void one_sample_that_lost_the_processor_delays_none(void **state)
{
    (void)state;
    raise_event_now();
    thread.last_cost_ticks = 1000; /* whatever the first one took on this machine */
    seen.takes_ticks = SLOW_TICKS;
    raise_event_now();
    seen.takes_ticks = 0;
    uint64_t start_ticks = arch_ticks();
    while (arch_ticks() - start_ticks < SLOW_TICKS / 10)
        ;
    raise_event_now();
    assert_int_equal(seen.records, 3);
    assert_int_equal(thread_slot.merged, 0);
}

static void a_program_that_is_crashing_is_left_alone(void **state)
{
    (void)state;
    sigaddset(&context.uc_sigmask, SIGSEGV);
    raise_event();
    sigemptyset(&context.uc_sigmask);
    sigaddset(&context.uc_sigmask, SIGBUS);
    raise_event();
    sigemptyset(&context.uc_sigmask);
    sigaddset(&context.uc_sigmask, SIGUSR1); /* any other handler of the program */
    raise_event();
    assert_int_equal(seen.records, 1);
    assert_int_equal(thread_slot.lost_crashing, 2);
    assert_int_equal(thread_slot.lost_weight_ns, 2 * PERIOD_NS);
}

static void a_full_ring_is_counted_with_its_weight(void **state)
{
    (void)state;
    seen.ring_is_full = true;
    raise_event();
    assert_int_equal(thread_slot.lost_ring_full, 1);
    assert_int_equal(thread_slot.lost_weight_ns, PERIOD_NS);
    assert_int_equal(thread.accounted_ns, PERIOD_NS);
}

/* A raw clone thread has its parent's thread-local storage: one of the two waits for no one. */
static void two_signals_at_once_on_one_state_are_one_record(void **state)
{
    (void)state;
    seen.interrupts = true;
    raise_event();
    assert_int_equal(seen.records, 1);
    assert_int_equal(thread_slot.lost_busy, 1);
    assert_int_equal(thread.busy, 0);
}

/* The hook is in the middle of a record: the signal writes none, and no time is lost. */
static void a_signal_during_a_hook_adds_its_weight_to_the_next_sample(void **state)
{
    (void)state;
    thread.busy = BUSY_HOOK;
    raise_event();
    assert_int_equal(seen.records, 0);
    assert_int_equal(thread.busy, BUSY_HOOK);
    assert_int_equal(thread_slot.merged, 1);
    assert_int_equal(thread_slot.lost_busy, 0);
    thread.busy = BUSY_NOT;
    raise_event();
    assert_int_equal(seen.records, 1);
    assert_int_equal(seen.weight_ns, 2 * PERIOD_NS);
    assert_int_equal(thread.accounted_ns, 2 * PERIOD_NS);
}

static void a_thread_without_a_state_is_counted(void **state)
{
    (void)state;
    thread_self = NULL;
    raise_event();
    assert_int_equal(seen.records, 0);
    assert_int_equal(process_slot.lost_no_thread, 1);
}

static void a_forked_child_does_nothing(void **state)
{
    (void)state;
    alive = 0; /* the kernel wiped it */
    raise_event();
    assert_int_equal(seen.records, 0);
    assert_int_equal(seen.delivered, 0);
    assert_int_equal(process_slot.lost_no_thread, 0);
}

static void without_a_launcher_nothing_is_written(void **state)
{
    struct tables *tables = *state;
    tables->header.stale_ticks = 1000000;
    tables->header.heartbeat_ticks = arch_ticks() - 2000000;
    raise_event();
    assert_int_equal(thread_slot.lost_away, 1);
    tables->header.heartbeat_ticks =
        arch_ticks() + 1000000000; /* another processor's clock is ahead */
    raise_event();
    assert_int_equal(seen.records, 1);
    tables->header.stop = 1;
    raise_event();
    assert_int_equal(thread_slot.lost_away, 2);
    assert_int_equal(thread_slot.lost_weight_ns, 2 * tables->header.period_ns);
    assert_int_equal(seen.records, 1);
}

static void a_process_handed_over_writes_nothing(void **state)
{
    (void)state;
    verdict.is_handed_over = 1;
    raise_event();
    assert_int_equal(seen.records, 0);
    assert_int_equal(seen.delivered, 0);
    verdict.is_handed_over = 0;
    raise_event();
    assert_int_equal(seen.records, 1);
}

/* None is merged into the next, and none counts as CPU time. */
static void each_occurrence_of_another_event_is_a_record(void **state)
{
    struct tables *tables = *state;
    tables->header.event = 8;
    tables->header.event_weight = 10;
    seen.takes_ticks = 100000;
    for (int i = 0; i < 5; i++)
        raise_event_now();
    assert_int_equal(seen.records, 5);
    assert_int_equal(seen.weight_ns, 50);
    assert_int_equal(thread.accounted_ns, 0);
    assert_int_equal(thread_slot.merged, 0);
    tables->header.quiet = 1;
    raise_event();
    assert_int_equal(seen.records, 5);
}

/* The signal was blocked when the event occurred: a page fault of the ring. */
static void an_event_in_the_handler_is_no_record(void **state)
{
    struct tables *tables = *state;
    siginfo_t info;
    uint64_t data = OUR_DATA;
    uint32_t late = 1;
    tables->header.event = 8;
    memset(&info, 0, sizeof(info));
    info.si_code = TRAP_PERF;
    memcpy((char *)&info + PERF_TRAP_DATA_AT, &data, sizeof(data));
    handler(process.signal, &info, &context);
    assert_int_equal(seen.records, 1);
    memcpy((char *)&info + PERF_TRAP_FLAGS_AT, &late, sizeof(late));
    handler(process.signal, &info, &context);
    assert_int_equal(seen.records, 1);
    assert_int_equal(seen.delivered, 0);
}

static void events_without_room_are_counted_by_cause(void **state)
{
    struct tables *tables = *state;
    tables->header.event = 8;
    tables->header.event_weight = 10;
    seen.ring_is_full = true;
    raise_event();
    assert_int_equal(thread_slot.lost_ring_full, 1);
    thread.busy = BUSY_HOOK;
    raise_event();
    assert_int_equal(thread_slot.lost_busy, 1);
    thread.busy = 0;
    tables->header.stop = 1;
    raise_event();
    assert_int_equal(thread_slot.lost_away, 1);
    assert_int_equal(thread_slot.lost_weight_ns, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_event_of_ours_weighs_one_period),
        TEST(other_peoples_signals_are_passed_on),
        TEST(a_timer_that_fired_late_weighs_what_it_missed),
        TEST(a_timer_on_the_way_out_of_a_system_call_counts_for_the_kernel),
        TEST(time_that_events_saw_is_not_counted_again),
        TEST(time_that_no_event_saw_is_the_kernels),
        TEST(kernel_time_seen_from_user_code_waits),
        TEST(a_system_call_takes_no_more_than_passed_since_the_last_look),
        TEST(before_sampling_begins_nothing_counts),
        TEST(the_first_expiry_after_sampling_began_is_left_out),
        TEST(whatever_the_mixture_all_time_is_accounted),
        TEST(a_surplus_is_forgotten_after_one_interval_and_two_periods),
        TEST(after_slow_samples_signals_only_add_weight),
        TEST(one_sample_that_lost_the_processor_delays_none),
        TEST(a_program_that_is_crashing_is_left_alone),
        TEST(a_full_ring_is_counted_with_its_weight),
        TEST(two_signals_at_once_on_one_state_are_one_record),
        TEST(a_signal_during_a_hook_adds_its_weight_to_the_next_sample),
        TEST(a_thread_without_a_state_is_counted),
        TEST(a_forked_child_does_nothing),
        TEST(without_a_launcher_nothing_is_written),
        TEST(a_process_handed_over_writes_nothing),
        TEST(each_occurrence_of_another_event_is_a_record),
        TEST(an_event_in_the_handler_is_no_record),
        TEST(events_without_room_are_counted_by_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
