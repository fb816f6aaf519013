/* SPDX-License-Identifier: MIT */
/* Filters of the program and the calls of the sampler: a filter that refuses one call forbids that call alone. */
#include "sampler/seccomp/seccomp.c"

#include "sampler/base/own_call.c"
#include "sampler/seccomp/seccomp_eval.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct process process;
static uint32_t alive = 1;
uint32_t *process_alive = &alive;
static int ignoring, restoring, refreshes;
static bool is_readable;

bool memory_is_readable(const void *memory, size_t bytes, uintptr_t *known_page)
{
    (void)memory;
    (void)bytes;
    (void)known_page;
    return is_readable;
}

void own_action_ignore(void)
{
    ignoring++;
}

void own_action_restore(void)
{
    restoring++;
}

void environ_refresh(void)
{
    refreshes++;
}

static struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_fprog refuse(long number)
{
    code[1].k = (uint32_t)number;
    return (struct sock_fprog){.len = sizeof(code) / sizeof(code[0]), .filter = code};
}

static uint64_t forbidden_calls(void)
{
    return process.forbidden & ALL_CALLS;
}

static int set_up(void **state)
{
    (void)state;
    process = (struct process){.engine = ENGINE_PERF_TRAP};
    ignoring = restoring = refreshes = 0;
    is_readable = true;
    return 0;
}

static void a_filter_against_other_calls_forbids_nothing(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_socket);
    seccomp_end(seccomp_begin(&filter), false);
    assert_int_equal(forbidden_calls(), 0);
    assert_int_equal(refreshes, 1);
}

static void a_filter_forbids_each_use_of_its_call(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_gettid);
    seccomp_end(seccomp_begin(&filter), false);
    assert_int_equal(forbidden_calls(), CALL_BIT(GETTID));
    filter = refuse(SYS_mmap);
    seccomp_end(seccomp_begin(&filter), false);
    assert_int_equal(forbidden_calls(), CALL_BIT(GETTID) | CALL_BIT(MAP_TABLES) |
                                            CALL_BIT(MAP_MEMORY) | CALL_BIT(MAP_PRIVATE));
}

static void a_filter_that_was_not_installed_forbids_nothing(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_gettid);
    struct seccomp_change change = seccomp_begin(&filter);
    assert_int_equal(forbidden_calls(), CALL_BIT(GETTID));
    seccomp_end(change, true);
    assert_int_equal(forbidden_calls(), 0);
}

static void a_change_by_another_thread_stays(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_gettid), other = refuse(SYS_gettid);
    struct seccomp_change change = seccomp_begin(&filter);
    seccomp_end(seccomp_begin(&other), false);
    seccomp_end(change, true);
    assert_int_equal(forbidden_calls(), CALL_BIT(GETTID));
}

static void without_the_return_of_handlers_the_signal_is_ignored(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_rt_sigreturn);
    struct seccomp_change change = seccomp_begin(&filter);
    assert_int_equal(ignoring, 1);
    seccomp_end(change, true);
    assert_int_equal(restoring, 1);
    seccomp_end(seccomp_begin(&filter), false);
    seccomp_end(seccomp_begin(&filter), true);
    assert_true(ignoring == 2 && restoring == 1);
}

static void a_bad_address_is_left_to_the_kernel(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_gettid);
    is_readable = false;
    seccomp_end(seccomp_begin(&filter), true);
    assert_int_equal(forbidden_calls(), 0);
}

static void without_a_test_of_addresses_every_call_counts_as_forbidden(void **state)
{
    (void)state;
    struct sock_fprog filter = refuse(SYS_rt_sigprocmask);
    seccomp_end(seccomp_begin(&filter), false);
    assert_int_equal(forbidden_calls(), CALL_BIT(SIGPROCMASK));
    filter = refuse(SYS_socket);
    seccomp_end(seccomp_begin(&filter), false);
    assert_int_equal(forbidden_calls(), ALL_CALLS);
}

static void a_filter_for_another_architecture_alone_forbids_nothing(void **state)
{
    (void)state;
    struct sock_filter other[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = 4, .filter = other};
    seccomp_end(seccomp_begin(&filter), false);
    assert_int_equal(forbidden_calls(), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_filter_against_other_calls_forbids_nothing),
        TEST(a_filter_forbids_each_use_of_its_call),
        TEST(a_filter_that_was_not_installed_forbids_nothing),
        TEST(a_change_by_another_thread_stays),
        TEST(without_the_return_of_handlers_the_signal_is_ignored),
        TEST(a_bad_address_is_left_to_the_kernel),
        TEST(without_a_test_of_addresses_every_call_counts_as_forbidden),
        TEST(a_filter_for_another_architecture_alone_forbids_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
