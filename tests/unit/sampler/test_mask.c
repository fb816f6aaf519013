/* SPDX-License-Identifier: MIT */
/* Hidden blocks with the kernel's own signals: each SIGPROF here is a foreign one, and the test's handler asks mask.c
 * as the sampler's would. */
#include "sampler/signals/mask.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct process process;
static uint32_t alive = 1;
uint32_t *process_alive = &alive;
__thread struct thread_state *thread_self;

static struct thread_state thread;
static int delivered, deferred, running_timers;
static bool next_is_ours;

bool process_is_another(void)
{
    return false;
}

void timer_start(struct thread_state *self)
{
    (void)self;
    running_timers++;
}

void timer_stop(struct thread_state *self)
{
    (void)self;
    running_timers--;
}

bool own_signal_is_ours(const siginfo_t *info)
{
    (void)info;
    bool is_ours = next_is_ours;
    next_is_ours = false;
    return is_ours;
}

static void handle(int number, siginfo_t *info, void *context)
{
    if (mask_defer(number, info, context))
        deferred++;
    else
        delivered++;
}

static bool kernel_blocks(void)
{
    return kernel_mask() & samplers_bit();
}

static bool is_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPROF);
}

static sigset_t only_sigprof(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    return set;
}

/* The thread has blocked SIGPROF, which is hidden. */
static int set_up(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t set = only_sigprof();
    memset(&thread, 0, sizeof(thread));
    thread.stack_end_avma = UINT64_MAX;
    process.signal = SIGPROF;
    delivered = deferred = 0;
    running_timers = 1;
    next_is_ours = false;
    sigaction(SIGPROF, &action, NULL);
    thread_self = &thread;
    mask_hide(&thread);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sigset_t set = only_sigprof();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return 0;
}

static void a_block_is_hidden_from_the_kernel_alone(void **state)
{
    (void)state;
    sigset_t seen;
    assert_false(kernel_blocks());
    sigprocmask(SIG_BLOCK, NULL, &seen);
    assert_true(sigismember(&seen, SIGPROF));
}

static void the_first_foreign_signal_makes_the_block_real(void **state)
{
    (void)state;
    kill(getpid(), SIGPROF);
    assert_int_equal(deferred, 1);
    assert_true(kernel_blocks() && is_pending() && thread.is_blocked);
    assert_int_equal(running_timers, 0);
}

static void a_real_block_stays_until_the_program_unblocks_the_signal(void **state)
{
    (void)state;
    sigset_t set = only_sigprof(), others;
    kill(getpid(), SIGPROF);
    sigfillset(&others);
    sigprocmask(SIG_SETMASK, &others, NULL);
    assert_true(kernel_blocks() && thread.is_blocked);
    assert_int_equal(delivered, 0);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    assert_int_equal(delivered, 1);
    assert_false(kernel_blocks() || thread.is_blocked);
    assert_int_equal(running_timers, 1);
    sigprocmask(SIG_SETMASK, &set, NULL);
    assert_false(kernel_blocks());
}

static void a_wait_that_unblocks_a_real_block_delivers_the_signal(void **state)
{
    (void)state;
    sigset_t none;
    sigemptyset(&none);
    kill(getpid(), SIGPROF);
    assert_int_equal(sigsuspend(&none), -1);
    assert_int_equal(delivered, 1);
    assert_true(kernel_blocks() && !is_pending() && thread.is_blocked);
}

/* The first wait ends early, with EINTR; a program that waits in a loop gets its signal by the next. */
static void a_signal_during_a_wait_is_delivered_by_the_next_wait(void **state)
{
    (void)state;
    sigset_t none;
    sigemptyset(&none);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec soon = {.it_value = {.tv_nsec = 10000000}};
    timer_t timer;
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
    assert_int_equal(sigsuspend(&none), -1);
    assert_true(delivered == 0 && deferred == 1 && is_pending());
    assert_int_equal(sigsuspend(&none), -1);
    assert_true(delivered == 1 && !is_pending());
    timer_delete(timer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_block_is_hidden_from_the_kernel_alone),
        TEST(the_first_foreign_signal_makes_the_block_real),
        TEST(a_real_block_stays_until_the_program_unblocks_the_signal),
        TEST(a_wait_that_unblocks_a_real_block_delivers_the_signal),
        TEST(a_signal_during_a_wait_is_delivered_by_the_next_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
