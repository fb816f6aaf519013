/* SPDX-License-Identifier: MIT */
/* A process that sends signals to itself all the time is stopped and resumed: no signal is lost. */
#include "record/attach/snapshot/stopped_threads.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STOPS 300
#define LIMIT_NS UINT64_C(10000000000)

struct counts {
    volatile sig_atomic_t raised, handled, is_over;
};

static struct counts *counts;

static void count(int number)
{
    (void)number;
    counts->handled++;
}

static void raise_signals(void)
{
    signal(SIGUSR1, count);
    while (!counts->is_over) {
        counts->raised++;
        raise(SIGUSR1);
    }
    _exit(0);
}

static void stops_keep_the_signals_of_the_thread(void **state)
{
    (void)state;
    int status;
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(counts != MAP_FAILED);
    pid_t pid = fork();
    if (pid == 0)
        raise_signals();
    assert_true(pid > 0);
    while (counts->handled == 0)
        usleep(100);
    for (int i = 0; i < STOPS; i++) {
        struct stopped_thread thread = {.tid = pid};
        usleep(300); /* the process runs when the stop begins */
        stopped_threads_stop(&thread, 1, LIMIT_NS);
        assert_int_equal(thread.error, 0);
        stopped_threads_resume(&thread, 1);
    }
    counts->is_over = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(counts->raised >= STOPS);
    assert_int_equal(counts->handled, counts->raised);
    munmap(counts, sizeof(*counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stops_keep_the_signals_of_the_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
