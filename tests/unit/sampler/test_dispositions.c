/* SPDX-License-Identifier: MIT */
/* The changes made to the program's actions, with a C library of one action. */
#include "sampler/signals/dispositions.c"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct process process;
static struct sigaction in_kernel;
static uint64_t ignored;
static bool is_another, fails;

bool process_is_another(void)
{
    return is_another;
}

void own_action_add_ignored(uint64_t signals)
{
    ignored |= signals;
}

void own_action_remove_ignored(uint64_t signals)
{
    ignored &= ~signals;
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

void *next_symbol(enum next_index index)
{
    union {
        int (*function)(int, const struct sigaction *, struct sigaction *);
        void *address;
    } fake = {.function = fake_sigaction};
    assert_int_equal(index, NEXT_INDEX_sigaction);
    return fake.address;
}

static signal_handler fake_signal(int signal, signal_handler simple)
{
    (void)signal;
    (void)simple;
    return fails ? SIG_ERR : SIG_DFL;
}

static void handle(int signal)
{
    (void)signal;
}

static struct sigaction make_action(signal_handler handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
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
    ignored = KERNEL_IGNORED_BY_DEFAULT;
    is_another = fails = false;
    return 0;
}

static void a_handler_on_an_alternate_stack_defers_samples(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, SA_ONSTACK), old;
    assert_int_equal(dispositions_set(SIGSEGV, &action, NULL), 0);
    assert_true(kernel_defers());
    assert_false(sigismember(&action.sa_mask, SIGTRAP));
    assert_int_equal(dispositions_set(SIGSEGV, NULL, &old), 0);
    assert_false(sigismember(&old.sa_mask, SIGTRAP));
}

static void a_handler_on_the_threads_stack_does_not(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, 0);
    assert_int_equal(dispositions_set(SIGSEGV, &action, NULL), 0);
    assert_false(kernel_defers());
}

static void a_mask_of_the_program_with_the_signal_stays_visible(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, SA_ONSTACK), old;
    sigaddset(&action.sa_mask, SIGTRAP);
    assert_int_equal(dispositions_set(SIGSEGV, &action, NULL), 0);
    assert_int_equal(dispositions_set(SIGSEGV, NULL, &old), 0);
    assert_true(sigismember(&old.sa_mask, SIGTRAP));
}

static void the_old_action_is_read_before_the_change(void **state)
{
    (void)state;
    struct sigaction deferring_one = make_action(handle, SA_ONSTACK), old;
    struct sigaction visible = make_action(handle, SA_ONSTACK);
    sigaddset(&visible.sa_mask, SIGTRAP);
    assert_int_equal(dispositions_set(SIGSEGV, &deferring_one, NULL), 0);
    assert_int_equal(dispositions_set(SIGSEGV, &visible, &old), 0);
    assert_false(sigismember(&old.sa_mask, SIGTRAP));
    assert_int_equal(dispositions_set(SIGSEGV, &deferring_one, &old), 0);
    assert_true(sigismember(&old.sa_mask, SIGTRAP));
}

static void an_action_the_kernel_refuses_changes_nothing(void **state)
{
    (void)state;
    struct sigaction action = make_action(handle, SA_ONSTACK), old;
    assert_int_equal(dispositions_set(SIGSEGV, &action, NULL), 0);
    fails = true;
    struct sigaction other = make_action(SIG_IGN, 0);
    assert_int_equal(dispositions_set(SIGSEGV, &other, &old), -1);
    assert_int_equal(errno, EINVAL);
    assert_true(deferring & SIGNAL_BIT(SIGSEGV));
    assert_false(ignored & SIGNAL_BIT(SIGSEGV));
}

static void without_a_sampled_process_actions_are_passed_on(void **state)
{
    (void)state;
    process.engine = ENGINE_NONE;
    struct sigaction action = make_action(handle, SA_ONSTACK);
    assert_int_equal(dispositions_set(SIGSEGV, &action, NULL), 0);
    assert_false(kernel_defers());
}

static void ignored_signals_are_counted(void **state)
{
    (void)state;
    struct sigaction ignoring = make_action(SIG_IGN, 0), handling = make_action(handle, 0);
    struct sigaction standard = make_action(SIG_DFL, 0);
    assert_int_equal(dispositions_set(SIGUSR1, &ignoring, NULL), 0);
    assert_true(ignored & SIGNAL_BIT(SIGUSR1));
    assert_int_equal(dispositions_set(SIGUSR1, &standard, NULL), 0);
    assert_false(ignored & SIGNAL_BIT(SIGUSR1));
    assert_int_equal(dispositions_set(SIGCHLD, &handling, NULL), 0);
    assert_false(ignored & SIGNAL_BIT(SIGCHLD));
    assert_int_equal(dispositions_set(SIGCHLD, &standard, NULL), 0);
    assert_true(ignored & SIGNAL_BIT(SIGCHLD));
}

static void simple_handlers_are_counted_in_the_same_way(void **state)
{
    (void)state;
    dispositions_set_simple(fake_signal, SIGUSR1, SIG_IGN);
    assert_true(ignored & SIGNAL_BIT(SIGUSR1));
    dispositions_set_simple(fake_signal, SIGUSR1, handle);
    assert_false(ignored & SIGNAL_BIT(SIGUSR1));
    fails = true;
    assert_true(dispositions_set_simple(fake_signal, SIGUSR1, SIG_IGN) == SIG_ERR);
    assert_false(ignored & SIGNAL_BIT(SIGUSR1));
}

static void a_vfork_child_does_not_count_in_its_parent(void **state)
{
    (void)state;
    struct sigaction ignoring = make_action(SIG_IGN, 0);
    is_another = true;
    assert_int_equal(dispositions_set(SIGUSR1, &ignoring, NULL), 0);
    dispositions_set_simple(fake_signal, SIGUSR2, SIG_IGN);
    assert_int_equal(ignored, KERNEL_IGNORED_BY_DEFAULT);
}

static void numbers_of_no_signal_are_left_to_the_kernel(void **state)
{
    (void)state;
    dispositions_set_simple(fake_signal, 0, SIG_IGN);
    dispositions_set_simple(fake_signal, 65, SIG_IGN);
    dispositions_set_simple(fake_signal, -1, SIG_IGN);
    assert_int_equal(ignored, KERNEL_IGNORED_BY_DEFAULT);
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
        TEST(ignored_signals_are_counted),
        TEST(simple_handlers_are_counted_in_the_same_way),
        TEST(a_vfork_child_does_not_count_in_its_parent),
        TEST(numbers_of_no_signal_are_left_to_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
