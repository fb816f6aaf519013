/* SPDX-License-Identifier: MIT */
/* Reasons of waits by the functions of their stacks. */
#include "convert/frames.h"
#include "convert/symbolize/kernel_waits.h"
#include "profile/waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { DEPTH_MAX = 6 };

struct stack {
    const char *leaf, *kernel[DEPTH_MAX], *user[DEPTH_MAX]; /* innermost first */
    const char *reason;
};

static uint32_t push(struct profile *profile, uint32_t parent, uint32_t lib, const char *name)
{
    static uint64_t svma;
    uint32_t address = profile_address_id(profile, lib, ++svma);
    frames_add_bare(profile, &profile->addresses[address], name);
    return profile_call_id(profile, parent, address);
}

static uint32_t push_all(struct profile *profile, uint32_t parent, uint32_t lib,
                         const char *const names[DEPTH_MAX])
{
    for (size_t i = DEPTH_MAX; i-- > 0;)
        if (names[i])
            parent = push(profile, parent, lib, names[i]);
    return parent;
}

static void check(const struct stack *stack)
{
    struct profile *profile = profile_new();
    uint32_t user = profile_lib_id(profile, "/bin/app", NULL, 0);
    uint32_t kernel = profile_lib_id(profile, "[kernel.kallsyms]", NULL, 0);
    profile->libs[kernel].is_synthetic = false;
    profile->libs[kernel].category = PROFILE_KERNEL;
    uint32_t call = push_all(profile, PROFILE_NONE, user, stack->user);
    call = push_all(profile, call, kernel, stack->kernel);
    uint32_t leaf = profile_lib_id(profile, stack->leaf, NULL, 0);
    call = push(profile, call, leaf, stack->leaf);
    kernel_waits_name(profile);
    assert_false(profile->failed);
    assert_string_equal(wait_reason_of_call(profile, call).text, stack->reason);
    profile_free(profile);
}

static void the_innermost_known_function_is_the_reason(void **state)
{
    (void)state;
    static const struct stack stacks[] = {
        {WAITS_UNKNOWN, {"schedule", "anon_pipe_read", "vfs_read"}, {"read"}, "read"},
        {WAITS_UNKNOWN, {"wait_woken", "sock_recvmsg", "vfs_read"}, {"read"}, "receive"},
        {WAITS_UNKNOWN, {"poll_schedule_timeout.constprop.0"}, {"poll"}, "poll"},
        {WAITS_UNKNOWN, {"schedule", "vfs_reads"}, {"read"}, "unknown"},
        {WAITS_UNKNOWN, {"schedule", "vfs_rea"}, {"read"}, "unknown"},
        {WAITS_UNKNOWN, {".isra.0", ""}, {"read"}, "unknown"},
        {WAITS_UNKNOWN, {"schedule"}, {"vfs_read", "do_wait"}, "unknown"},
        {WAITS_UNKNOWN, {NULL}, {NULL}, "unknown"},
        {WAITS_RUNNABLE, {"schedule", "vfs_read"}, {"read"}, "runnable"},
        {"[waiting: disk]", {"io_schedule", "vfs_read"}, {"read"}, "disk"},
    };
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
        check(&stacks[i]);
}

static void the_use_of_a_futex_is_a_function_of_the_c_library(void **state)
{
    (void)state;
    static const struct stack stacks[] = {
        {WAITS_UNKNOWN, {"futex_do_wait"}, {"syscall", "main"}, "futex"},
        {WAITS_UNKNOWN, {"futex_wait_queue_me"}, {"___pthread_mutex_lock", "main"}, "lock"},
        {WAITS_UNKNOWN,
         {"futex_wait_queue"},
         {"a", "pthread_cond_timedwait"},
         "condition variable"},
        {WAITS_UNKNOWN, {"futex_do_wait"}, {"a", "b", "c", "d", "e", "sem_wait"}, "futex"},
        {WAITS_UNKNOWN, {"do_epoll_wait"}, {"sem_wait"}, "poll"},
    };
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
        check(&stacks[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_known_function_is_the_reason),
        cmocka_unit_test(the_use_of_a_futex_is_a_function_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
