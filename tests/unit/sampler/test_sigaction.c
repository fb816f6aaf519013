/* SPDX-License-Identifier: MIT */
/* The changes made to the program's actions, with a C library of one action. */
#include <signal.h>

/* cmocka calls the C library's functions. */
#define sigaction(signal, action, old) hook_sigaction(signal, action, old)
#define signal(number, simple) hook_signal(number, simple)
#include "sampler/signals/sigaction.c"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct process process;
static struct sigaction in_kernel;
static bool is_another, fails;

bool process_is_another(void)
{
    return is_another;
}

struct action program_action_read(void)
{
    return (struct action){0};
}

struct action program_action_write(const struct action *action)
{
    (void)action;
    return (struct action){0};
}

struct action action_from_libc(const struct sigaction *from)
{
    (void)from;
    return (struct action){0};
}

void action_to_libc(const struct action *action, struct sigaction *to)
{
    (void)action;
    *to = (struct sigaction){0};
}

static int fake_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    (void)signal;
    if (fails) {
        errno = EINVAL;
        return -1;
    }
    if (old)
        *old = in_kernel;
    if (action)
        in_kernel = *action;
    return 0;
}

/* For functions of several types: not inlined. */
__attribute__((noinline)) void *next_symbol(enum next_index index)
{
    union {
        int (*function)(int, const struct sigaction *, struct sigaction *);
        void *address;
    } fake = {.function = fake_sigaction};
    assert_int_equal(index, NEXT_INDEX_sigaction);
    return fake.address;
}

static void handle(int signal)
{
    (void)signal;
}

static struct sigaction make_action(signal_handler simple, int flags)
{
    struct sigaction action = {.sa_handler = simple, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    return action;
}

static bool kernel_defers(void)
{
    return sigismember(&in_kernel.sa_mask, SIGTRAP);
}

static int set_up(void **state)
{
    (void)state;
    process.signal = SIGTRAP;
    process.engine = ENGINE_PERF_TRAP;
    in_kernel = make_action(SIG_DFL, 0);
    deferring = 0;
    is_another = fails = false;
    return 0;
}

static void a_handler_on_an_alternate_stack_defers_samples(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, SA_ONSTACK), old;
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_true(kernel_defers());
    assert_false(sigismember(&action.sa_mask, SIGTRAP));
    assert_int_equal(sigaction(SIGSEGV, NULL, &old), 0);
    assert_false(sigismember(&old.sa_mask, SIGTRAP));
}

static void a_handler_on_the_threads_stack_does_not(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, 0);
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_false(kernel_defers());
}

static void a_mask_of_the_program_with_the_signal_stays_visible(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, SA_ONSTACK), old;
    sigaddset(&action.sa_mask, SIGTRAP);
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_int_equal(sigaction(SIGSEGV, NULL, &old), 0);
    assert_true(sigismember(&old.sa_mask, SIGTRAP));
}

static void the_old_action_is_read_before_the_change(void **state)
{
    (void)state;
    struct sigaction deferring_one = make_action(handle, SA_ONSTACK), old;
    struct sigaction visible = make_action(handle, SA_ONSTACK);
    sigaddset(&visible.sa_mask, SIGTRAP);
    assert_int_equal(sigaction(SIGSEGV, &deferring_one, NULL), 0);
    assert_int_equal(sigaction(SIGSEGV, &visible, &old), 0);
    assert_false(sigismember(&old.sa_mask, SIGTRAP));
    assert_int_equal(sigaction(SIGSEGV, &deferring_one, &old), 0);
    assert_true(sigismember(&old.sa_mask, SIGTRAP));
}

static void an_action_the_kernel_refuses_changes_nothing(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, SA_ONSTACK), old;
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    fails = true;
    struct sigaction other = make_action(SIG_IGN, 0);
    assert_int_equal(sigaction(SIGSEGV, &other, &old), -1);
    assert_int_equal(errno, EINVAL);
    assert_true(deferring & SIGNAL_BIT(SIGSEGV));
}

static void without_a_sampled_process_actions_are_passed_on(void **state)
{
    (void)state;
    process.engine = ENGINE_NONE;
    struct sigaction action = make_action(handle, SA_ONSTACK);
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_false(kernel_defers());
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_handler_on_an_alternate_stack_defers_samples),
        TEST(a_handler_on_the_threads_stack_does_not),
        TEST(a_mask_of_the_program_with_the_signal_stays_visible),
        TEST(the_old_action_is_read_before_the_change),
        TEST(an_action_the_kernel_refuses_changes_nothing),
        TEST(without_a_sampled_process_actions_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
