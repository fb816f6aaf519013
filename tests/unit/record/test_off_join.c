/* SPDX-License-Identifier: MIT */
/* A thread that is slow for lack of a processor is joined; one that hangs is not. */
#include "record/off_cpu/off_join.h"

#include "base/clock.h"
#include "wire/atomic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static uint32_t other_tid;
static int ends[2];

static void *work(void *unused)
{
    store_release(&other_tid, (uint32_t)gettid());
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < 20 * MS)
        continue;
    return unused;
}

static void *hang(void *unused)
{
    char byte;
    store_release(&other_tid, (uint32_t)gettid());
    return read(ends[0], &byte, 1) == 1 ? NULL : unused;
}

static pid_t start(pthread_t *thread, void *(*function)(void *))
{
    other_tid = 0;
    assert_int_equal(pthread_create(thread, NULL, function, NULL), 0);
    while (load_acquire(&other_tid) == 0)
        usleep(100);
    return (pid_t)other_tid;
}

/* Many times the limit. */
static void a_thread_that_works_is_joined(void **state)
{
    (void)state;
    pthread_t thread;
    pid_t tid = start(&thread, work);
    assert_true(off_join(thread, tid, MS / 10));
}

static void a_thread_that_hangs_is_not_joined(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    pid_t tid = start(&thread, hang);
    assert_false(off_join(thread, tid, MS));
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_works_is_joined),
        cmocka_unit_test(a_thread_that_hangs_is_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
