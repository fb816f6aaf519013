/* SPDX-License-Identifier: MIT */
/*
 * Threads of a process in another pid namespace: the process states the tids, and may state anything.
 * The process is the test itself, with a pid stated that is not its own; without a namespace, the tids
 * inside are the tids here.
 */
#include "record/namespaces/pid_namespace.h"

#include "wire/records.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 40, UNKNOWN_TID = 1 };

static struct {
    pthread_barrier_t started, ended;
    pid_t tids[THREADS];
} at;

static void *wait_for_end(void *place)
{
    *(pid_t *)place = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&at.started);
    pthread_barrier_wait(&at.ended);
    return NULL;
}

struct fixture {
    struct round round;
    struct process process;
    struct pid_namespaces namespaces;
    pthread_t threads[THREADS];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->process = (struct process){.pid = getpid(), .stated_pid = 1 << 21, .pid_fd = -1};
    fixture->namespaces.round = &fixture->round;
    fixture->round.now_ns = 1;
    pthread_barrier_init(&at.started, NULL, THREADS + 1);
    pthread_barrier_init(&at.ended, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&fixture->threads[i], NULL, wait_for_end, &at.tids[i]), 0);
    pthread_barrier_wait(&at.started);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pthread_barrier_wait(&at.ended);
    for (int i = 0; i < THREADS; i++)
        pthread_join(fixture->threads[i], NULL);
    pid_namespaces_free(&fixture->namespaces);
    free(fixture);
    return 0;
}

static pid_t find(struct fixture *fixture, pid_t tid)
{
    const struct thread_slot slot = {.tid = (uint32_t)tid, .state = THREAD_ACTIVE};
    return pid_namespace_tid(&fixture->namespaces, &fixture->process, &slot);
}

static void every_thread_is_found_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < THREADS; i++) {
        int jumping = i * 7 % THREADS;
        assert_int_equal(find(fixture, at.tids[jumping]), at.tids[jumping]);
    }
    assert_true(fixture->namespaces.list.lists_left > 0);
}

static void a_tid_of_no_thread_gets_an_unused_number(void **state)
{
    struct fixture *fixture = *state;
    pid_t first = find(fixture, UNKNOWN_TID), second = find(fixture, UNKNOWN_TID);
    assert_true(first > 1 << 22 && second > 1 << 22 && first != second);
}

/* Without a namespace. Two threads with a tid would be one in the file. */
static void a_process_of_another_user_states_no_tid_of_another_process(void **state)
{
    struct fixture *fixture = *state;
    const struct session session = {.uid = 0};
    const pid_t free_tid = (1 << 22) - 1, of_init = 1;
    const struct thread_slot ended = {.tid = (uint32_t)of_init, .state = THREAD_ENDED},
                             ended_freely = {.tid = (uint32_t)free_tid, .state = THREAD_ENDED};
    fixture->namespaces.session = &session;
    fixture->process.stated_pid = getpid();
    assert_int_equal(find(fixture, of_init), of_init); /* of root */
    fixture->process.rights.uid = 65534;
    assert_int_equal(find(fixture, getpid()), getpid());
    assert_int_equal(find(fixture, at.tids[0]), at.tids[0]);
    assert_true(find(fixture, of_init) > 1 << 22);
    assert_true(find(fixture, free_tid) > 1 << 22); /* may belong to another process later */
    struct pid_namespaces *namespaces = &fixture->namespaces;
    assert_true(pid_namespace_tid(namespaces, &fixture->process, &ended) > 1 << 22);
    assert_int_equal(pid_namespace_tid(namespaces, &fixture->process, &ended_freely), free_tid);
}

/* The threads of the ended process are in no list. */
static void the_threads_of_an_ended_process_do_not_wait_for_a_later_round(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 10; i++)
        find(fixture, UNKNOWN_TID);
    assert_int_equal(find(fixture, UNKNOWN_TID), 0);
    fixture->process.gone_ns = 1;
    assert_true(find(fixture, UNKNOWN_TID) > 1 << 22);
}

/* Each of 1024 slots of each such process would else list all threads, in every round. */
static void tids_of_no_threads_cost_a_limited_number_of_reads_a_round(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 2000; i++)
        find(fixture, UNKNOWN_TID);
    assert_int_equal(find(fixture, UNKNOWN_TID), 0); /* in a later round */
    assert_int_equal(fixture->namespaces.list.lists_left, 0);
    assert_int_equal(fixture->namespaces.list.reads_left, 0);
    fixture->round.now_ns++;
    assert_int_equal(find(fixture, at.tids[3]), at.tids[3]);
}

/* The list is older than the thread. */
static void a_thread_started_during_the_round_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct tid_list *list = &fixture->namespaces.list;
    assert_int_equal(find(fixture, at.tids[0]), at.tids[0]);
    while (list->count > 0 && list->tids[list->count - 1] != at.tids[THREADS - 2])
        list->count--;
    fixture->process.last_thread = (struct inner_id){0};
    assert_int_equal(find(fixture, at.tids[THREADS - 1]), at.tids[THREADS - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(every_thread_is_found_in_any_order),
        TEST(a_tid_of_no_thread_gets_an_unused_number),
        TEST(a_process_of_another_user_states_no_tid_of_another_process),
        TEST(the_threads_of_an_ended_process_do_not_wait_for_a_later_round),
        TEST(tids_of_no_threads_cost_a_limited_number_of_reads_a_round),
        TEST(a_thread_started_during_the_round_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
