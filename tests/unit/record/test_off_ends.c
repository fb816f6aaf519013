/* SPDX-License-Identifier: MIT */
/* The end of a watched process is reported once, and its descriptor goes with its last thread. */
#include "record/off_cpu/off_ends.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int is_ready(const struct off_ends *ends, int limit_ms)
{
    struct pollfd polled = {.fd = ends->fd, .events = POLLIN};
    return poll(&polled, 1, limit_ms);
}

/* A child that ends when the pipe is closed. */
static pid_t start(int *end_fd)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    assert_true(pid > 0);
    close(ends[0]);
    *end_fd = ends[1];
    return pid;
}

static void an_end_is_reported_once_and_before_the_parent_has_seen_it(void **state)
{
    (void)state;
    struct off_ends ends;
    struct off_tasks tasks = {.count = 0};
    int end_fd;
    pid_t pid = start(&end_fd);
    off_ends_open(&ends);
    struct off_thread *thread = off_thread_add(&tasks, pid, pid, RUN_ON, 1);
    off_ends_watch(&ends, &tasks, thread->process);
    off_ends_watch(&ends, &tasks, thread->process);
    int pid_fd = thread->process->pid_fd;
    assert_true(pid_fd > 0);
    assert_int_equal(tasks.watched, 1);
    assert_int_equal(is_ready(&ends, 0), 0);
    close(end_fd);
    assert_int_equal(is_ready(&ends, 60000), 1);
    off_ends_take(&ends);
    assert_int_equal(is_ready(&ends, 0), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    off_thread_remove(&tasks, thread);
    assert_int_equal(tasks.watched, 0);
    assert_int_equal(fcntl(pid_fd, F_GETFD), -1);
    off_tasks_free(&tasks);
    off_ends_close(&ends);
}

/* The FORK of a process that has ended since: its pid belongs to a later process. */
static void a_process_younger_than_its_records_is_another_process(void **state)
{
    (void)state;
    struct off_ends ends;
    struct off_tasks tasks = {.count = 0};
    int end_fd;
    pid_t pid = start(&end_fd);
    off_ends_open(&ends);
    struct off_thread *thread = off_thread_add(&tasks, pid, pid, RUN_ON, 1);
    thread->process->program_ns = monotonic_ns() - 1000000000;
    off_ends_watch(&ends, &tasks, thread->process);
    assert_true(thread->process->is_other);
    assert_int_equal(thread->process->pid_fd, -1);
    assert_int_equal(tasks.watched, 0);
    thread->process->pid_fd = 0;
    thread->process->program_ns = monotonic_ns();
    off_ends_watch(&ends, &tasks, thread->process);
    assert_false(thread->process->is_other);
    assert_true(thread->process->pid_fd > 0);
    close(end_fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    off_tasks_free(&tasks);
    off_ends_close(&ends);
}

static void processes_beyond_the_limit_are_not_watched(void **state)
{
    (void)state;
    struct off_ends ends;
    struct off_tasks tasks = {.count = 0};
    off_ends_open(&ends);
    assert_in_range(ends.limit, 1, 256);
    ends.limit = 0;
    struct off_thread *thread = off_thread_add(&tasks, getpid(), getpid(), RUN_ON, 1);
    off_ends_watch(&ends, &tasks, thread->process);
    assert_int_equal(thread->process->pid_fd, 0);
    ends.limit = 1;
    off_ends_watch(&ends, &tasks, thread->process);
    assert_true(thread->process->pid_fd > 0);
    off_tasks_free(&tasks);
    off_ends_close(&ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_reported_once_and_before_the_parent_has_seen_it),
        cmocka_unit_test(a_process_younger_than_its_records_is_another_process),
        cmocka_unit_test(processes_beyond_the_limit_are_not_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
