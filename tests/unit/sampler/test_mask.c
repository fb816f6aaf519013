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

static void a_pending_foreign_signal_is_delivered_before_a_wait(void **state)
{
    (void)state;
    sigset_t none;
    sigemptyset(&none);
    kill(getpid(), SIGPROF);
    struct thread_state *lifted = mask_lift(&none, __builtin_frame_address(0));
    assert_true(mask_deliver_pending(lifted, &none));
    assert_int_equal(delivered, 1);
    assert_true(kernel_blocks() && !is_pending());
    assert_int_equal(thread.lifted_avma, 0);
}

/* A signal of the sampler alone does not end the wait: the thread hides its block again, and is sampled. */
static void a_pending_signal_of_the_sampler_is_removed_before_a_wait(void **state)
{
    (void)state;
    sigset_t none;
    sigemptyset(&none);
    kill(getpid(), SIGPROF);
    next_is_ours = true;
    struct thread_state *lifted = mask_lift(&none, __builtin_frame_address(0));
    assert_false(mask_deliver_pending(lifted, &none));
    assert_int_equal(delivered, 0);
    assert_false(kernel_blocks() || is_pending() || thread.is_blocked);
    assert_int_equal(running_timers, 1);
    mask_lower(lifted);
}

/* A handler that ran between the hook and the system call would not end the wait. */
static void a_wait_unblocks_the_signal_in_its_system_call_alone(void **state)
{
    (void)state;
    sigset_t none;
    ucontext_t interrupted;
    greg_t *registers = interrupted.uc_mcontext.gregs;
    memset(&interrupted, 0, sizeof(interrupted));
    *(uint64_t *)(void *)&interrupted.uc_sigmask = kernel_mask();
    sigemptyset(&none);
    struct thread_state *lifted = mask_lift(&none, __builtin_frame_address(0));
    registers[REG_RSP] = (greg_t)thread.lifted_avma - 64;
    registers[REG_RIP] = 0x401000;
    registers[REG_R11] = registers[REG_EFL] = 0x246;
    assert_true(mask_hides_block_at(&interrupted));
    registers[REG_RCX] = 0x401000;
    assert_false(mask_hides_block_at(&interrupted));
    mask_lower(lifted);
    assert_true(mask_hides_block_at(&interrupted));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_block_is_hidden_from_the_kernel_alone),
        TEST(the_first_foreign_signal_makes_the_block_real),
        TEST(a_real_block_stays_until_the_program_unblocks_the_signal),
        TEST(a_pending_foreign_signal_is_delivered_before_a_wait),
        TEST(a_pending_signal_of_the_sampler_is_removed_before_a_wait),
        TEST(a_wait_unblocks_the_signal_in_its_system_call_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
