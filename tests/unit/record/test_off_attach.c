/* SPDX-License-Identifier: MIT */
/* Threads that start during the attachment have one record of each switch. */
#include "record/off_cpu/off_attach.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 400, EARLY = 60, PAUSE_US = 100, NAP_US = 3000 };

static void *nap(void *unused)
{
    for (;;)
        usleep(NAP_US);
    return unused;
}

/* Some threads are there at the begin, the others come one by one. */
static void start_threads(int ready_fd)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < THREADS && pthread_create(&thread, &small, nap, NULL) == 0; i++) {
        if (i == EARLY && write(ready_fd, "x", 1) != 1)
            _exit(1);
        usleep(PAUSE_US);
    }
    pause();
}

static pid_t start(void)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        start_threads(ends[1]);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static bool is_second(const struct off_records *records, const struct ring_record *record)
{
    const struct off_thread *thread = off_thread_find(records->tasks, (pid_t)record->tid);
    bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
    if (record->type != PERF_RECORD_SWITCH || !thread)
        return false;
    return is_out ? thread->run.state == RUN_BLOCKED : thread->run.state == RUN_ON;
}

/* The number of switches of a thread that has made the same switch before. */
static uint64_t take_records(struct off_rings *rings, struct off_records *records)
{
    struct ring_record record;
    uint64_t until_ns = off_rings_look(rings), seconds = 0;
    while (off_rings_next(rings, until_ns, &record)) {
        seconds += is_second(records, &record);
        off_records_take(records, &record);
    }
    return seconds;
}

static void new_threads_have_one_set_of_events(void **state)
{
    (void)state;
    struct off_rings rings;
    struct off_queue queue;
    struct off_tasks tasks = {.count = 0};
    off_queue_open(&queue);
    struct off_waits waits = {.samples = {.ticks = {10000000, 42, 256}, .queue = &queue},
                              .is_quiet = true};
    struct off_records records = {.tasks = &tasks, .waits = &waits, .reach = REACH_CHILDREN};
    if (off_rings_open(&rings, REACH_CHILDREN) != 0)
        skip();
    pid_t pid = start();
    assert_int_equal(off_attach(&rings, &records, pid, NULL, 0), 0);
    usleep(10000);
    uint64_t seconds = take_records(&rings, &records);
    assert_true(tasks.count > EARLY);
    assert_true(records.switches > 0);
    /* one, at most, of a thread that has switched while the events of its processors were opened */
    assert_true(20 * seconds <= records.switches);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    off_rings_close(&rings);
    off_waits_begin_tick(&waits);
    while (off_waits_next(&waits))
        continue;
    off_tasks_free(&tasks);
    off_queue_close(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(new_threads_have_one_set_of_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
