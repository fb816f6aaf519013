/* SPDX-License-Identifier: MIT */
/* How long a program waits for a launcher that runs, but is late. */
#include "sampler/process/launcher.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LATE_NS 60000000
#define MUCH_LESS_NS 15000000
#define MUCH_MORE_NS UINT64_C(20000000000)

struct process process;
static struct tables *tables;
static uint32_t word;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t own_clock_ns(enum own_call clock)
{
    (void)clock;
    return now_ns();
}

static void *memory(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(start, MAP_FAILED);
    return start;
}

static int set_up(void **state)
{
    (void)state;
    struct requests *requests = memory(sizeof(*requests));
    tables = memory(sizeof(*tables));
    process = (struct process){.tables = tables, .requests = requests};
    word = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(process.requests, sizeof(*process.requests));
    munmap(tables, sizeof(*tables));
    return 0;
}

static void *answers_late(void *unused)
{
    struct timespec late = {.tv_nsec = LATE_NS};
    nanosleep(&late, NULL);
    store_release(&word, 1);
    raw_syscall(SYS_futex, &word, FUTEX_WAKE, 1);
    return unused;
}

static bool await_late_answer(uint64_t longest_ns)
{
    pthread_t launcher;
    assert_int_equal(pthread_create(&launcher, NULL, answers_late, NULL), 0);
    bool is_answered = launcher_await(&word, 1, longest_ns);
    assert_int_equal(pthread_join(launcher, NULL), 0);
    return is_answered;
}

static void a_late_answer_is_waited_for(void **state)
{
    (void)state;
    assert_true(await_late_answer(MUCH_MORE_NS));
    assert_int_equal(process.requests->doorbell, 1);
}

static void but_not_longer_than_that(void **state)
{
    (void)state;
    assert_false(await_late_answer(MUCH_LESS_NS));
}

static void a_wait_in_vain_is_noted_until_the_next_sign_of_life(void **state)
{
    (void)state;
    tables->header.heartbeat_ticks = arch_ticks();
    tables->header.stale_ticks = UINT64_MAX;
    assert_false(launcher_is_stale());
    assert_false(launcher_await(&word, 1, MUCH_LESS_NS));
    assert_true(launcher_is_stale());
    tables->header.heartbeat_ticks++;
    assert_false(launcher_is_stale());
}

static void nobody_waits_after_the_end_of_the_recording(void **state)
{
    (void)state;
    tables->header.stop = 1;
    uint64_t start_ns = now_ns();
    assert_false(launcher_await(&word, 1, MUCH_MORE_NS));
    assert_true(now_ns() - start_ns < MUCH_MORE_NS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_late_answer_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(but_not_longer_than_that, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_in_vain_is_noted_until_the_next_sign_of_life, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nobody_waits_after_the_end_of_the_recording, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
