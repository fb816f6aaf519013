/* SPDX-License-Identifier: MIT */
/* The own stack of a thread, by the list of robust mutexes in the thread's descriptor. */
#include "record/perf_ring/walk/thread_stacks.h"
#include "record/procfs/maps/proc_maps.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { STACK_BYTES = 1 << 20 };

struct looked {
    pthread_barrier_t *barrier;
    uint64_t sp, low_avma; /* in the thread's stack, and the lowest address of the stack */
    pid_t tid;
};

static void *wait_twice(void *argument)
{
    struct looked *looked = argument;
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    looked->sp = (uintptr_t)&looked;
    looked->low_avma = (uintptr_t)low;
    looked->tid = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(looked->barrier);
    pthread_barrier_wait(looked->barrier);
    return NULL;
}

/* The thread waits until the second call of pthread_barrier_wait(). */
static struct looked start_thread(pthread_t *thread, void *stack)
{
    static pthread_barrier_t barrier;
    static struct looked looked;
    pthread_attr_t attributes;
    looked.barrier = &barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_attr_init(&attributes);
    if (stack)
        assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    assert_int_equal(pthread_create(thread, &attributes, wait_twice, &looked), 0);
    pthread_attr_destroy(&attributes);
    pthread_barrier_wait(&barrier);
    return looked;
}

static void check_thread(void *stack)
{
    pthread_t thread;
    struct thread_stacks stacks = {0};
    char *made = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(made, MAP_FAILED);
    const struct looked looked = start_thread(&thread, stack);
    const pid_t pid = getpid();
    assert_false(thread_stacks_is_elsewhere(&stacks, pid, looked.tid, (uintptr_t)&thread));
    assert_false(thread_stacks_is_known(&stacks, pid, looked.tid));
    assert_true(thread_stacks_read(&stacks, pid, looked.tid));
    assert_true(thread_stacks_is_known(&stacks, pid, looked.tid));
    assert_false(thread_stacks_read(&stacks, pid, looked.tid));
    assert_false(thread_stacks_is_elsewhere(&stacks, pid, looked.tid, looked.sp));
    assert_false(thread_stacks_is_elsewhere(&stacks, pid, looked.tid, looked.low_avma));
    assert_true(thread_stacks_is_elsewhere(&stacks, pid, looked.tid, (uintptr_t)&thread));
    if (!stack) /* two mappings without a page between them are one */
        assert_true(thread_stacks_is_elsewhere(&stacks, pid, looked.tid, (uintptr_t)made));
    pthread_barrier_wait(looked.barrier);
    pthread_join(thread, NULL);
    two_way_cache_free(&stacks.known);
    munmap(made, 1 << 16);
}

static void a_thread_has_its_own_stack(void **state)
{
    (void)state;
    check_thread(NULL);
}

static void a_stack_given_by_the_program_is_its_own(void **state)
{
    (void)state;
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    check_thread(stack);
    munmap(stack, STACK_BYTES);
}

static void nothing_is_known_of_a_thread_that_has_ended(void **state)
{
    (void)state;
    struct thread_stacks stacks = {0};
    assert_true(thread_stacks_read(&stacks, getpid(), INT32_MAX));
    assert_false(thread_stacks_is_elsewhere(&stacks, getpid(), INT32_MAX, 4096));
    two_way_cache_free(&stacks.known);
}

static void a_mapping_starts_where_the_kernel_states(void **state)
{
    (void)state;
    char *room = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(room + 4096, 4096, PROT_READ), 0);
    assert_int_equal(proc_maps_start(getpid(), (uintptr_t)room + 4096), (uintptr_t)room + 4096);
    assert_int_equal(proc_maps_start(getpid(), (uintptr_t)room + 8191), (uintptr_t)room + 4096);
    assert_int_equal(proc_maps_start(getpid(), (uintptr_t)room + 8192), (uintptr_t)room + 8192);
    assert_int_equal(proc_maps_start(getpid(), 0), 0);
    munmap(room, 3 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_its_own_stack),
        cmocka_unit_test(a_stack_given_by_the_program_is_its_own),
        cmocka_unit_test(nothing_is_known_of_a_thread_that_has_ended),
        cmocka_unit_test(a_mapping_starts_where_the_kernel_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
