/* SPDX-License-Identifier: MIT */
/* Recordings of running processes find new threads and children without switch records. */
#include "record/off_cpu/off_poll.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int ends[2];

static void *wait_for_end(void *unused)
{
    char byte;
    return read(ends[0], &byte, 1) == 0 ? NULL : unused;
}

/* Of this process, whose first thread is known: the number of known threads after a round. */
static size_t threads_of(enum event_reach reach)
{
    struct off_tasks tasks = {.count = 0};
    struct off_queue queue;
    off_queue_open(&queue);
    struct off_waits waits = {.samples = {.ticks = {10000000, 42, 256}, .queue = &queue}};
    struct off_records records = {.tasks = &tasks, .waits = &waits, .reach = reach};
    struct off_poll poll = {.tasks = &tasks, .waits = &waits, .records = &records, .reach = reach};
    uint64_t now_ns = monotonic_ns();
    assert_non_null(off_thread_add(&tasks, getpid(), getpid(), RUN_ON, now_ns));
    off_poll_adopt(&poll, now_ns);
    off_poll_round(&poll, 0, monotonic_ns());
    size_t count = tasks.count;
    while (tasks.count > 0)
        off_records_end_thread(&records, tasks.threads[0], monotonic_ns());
    off_waits_begin_tick(&waits);
    while (off_waits_next(&waits))
        continue;
    off_tasks_free(&tasks);
    off_queue_close(&queue);
    return count;
}

static void new_tasks_within_reach_are_found(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        _exit(wait_for_end(NULL) != NULL);
    }
    assert_true(pid > 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    assert_int_equal(threads_of(REACH_THREAD), 1);
    assert_int_equal(threads_of(REACH_PROCESS), 2);
    assert_int_equal(threads_of(REACH_CHILDREN), 3);
    close(ends[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(new_tasks_within_reach_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
