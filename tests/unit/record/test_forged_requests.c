/* SPDX-License-Identifier: MIT */
/* Statements of a member about other processes, and about the requests themselves. */
#include "made_request.h"

#include "record/process/admission.h"

#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

enum { OTHER_PID = 4711 };

static void state_original(struct fixture *fixture, uint32_t copy_of, pid_t parent_pid)
{
    fill_slot(&fixture->memory.shared->process);
    fixture->memory.shared->process.copy_of = copy_of;
    fixture->memory.shared->process.parent_pid = (uint32_t)parent_pid;
}

/* The launcher writes the map of a process into the memory of the process, where a made-up parent
 * of another user would disclose its addresses. A child of an unsampled process is judged anew. */
static void mappings_are_inherited_from_the_stated_sampled_process_of_this_user(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        uid_t more_uid;
        pid_t parent_pid;
        enum engine engine;
        bool inherits;
    } cases[] = {{0, OTHER_PID, ENGINE_TIMER, true},
                 {1, OTHER_PID, ENGINE_TIMER, false},
                 {0, OTHER_PID + 1, ENGINE_TIMER, false},
                 {0, OTHER_PID, ENGINE_NONE, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct process *other = enter_other(fixture, OTHER_PID, -1);
        other->rights.uid = geteuid() + cases[i].more_uid;
        other->engine = cases[i].engine;
        state_original(fixture, other->slot + 1, cases[i].parent_pid);
        ask_for(fixture, getpid(), fixture->memory.fd, fixture->memory.inode);
        struct process *joined = process_find(&fixture->collector->processes, getpid());
        assert_non_null(joined);
        bool has_inherited = joined->first_mappings.count == 1 &&
                             joined->first_mappings.mappings[0].start_avma == 0x1234000;
        assert_int_equal(has_inherited, cases[i].inherits);
    }
}

static void a_slot_outside_of_the_table_is_no_original(void **state)
{
    struct fixture *fixture = *state;
    state_original(fixture, UINT32_MAX, OTHER_PID);
    ask_for(fixture, getpid(), fixture->memory.fd, fixture->memory.inode);
    assert_true(was_answered(fixture));
    *request_of(fixture) = (struct join_request){
        .pid = 1, .memory_fd = 0, .copy_of = UINT32_MAX, .state = REQUEST_MADE};
    take(fixture);
    assert_int_equal(request_of(fixture)->state, REQUEST_REPLIED);
}

/* The mappings of a forked child are its parent's, and need no look; the proof does. */
static void a_forked_child_maps_its_memory(void **state)
{
    struct fixture *fixture = *state;
    uint32_t slot = enter_other(fixture, OTHER_PID, -1)->slot;
    for (int maps = 0; maps <= 1; maps++) {
        pid_t pid = start_other(fixture, maps, false);
        state_original(fixture, slot + 1, OTHER_PID);
        ask_for(fixture, pid, fixture->memory.fd, fixture->memory.inode);
        assert_int_equal(was_answered(fixture), maps);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

/* The pid is another process' now, and the pidfd of the ended process proves nothing about it. */
static void a_process_with_the_pid_of_an_ended_one_has_a_pidfd_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    pid_t ended = start_other(fixture, true, false), pid = start_other(fixture, true, false);
    enter_other(fixture, pid, (int)syscall(SYS_pidfd_open, ended, 0));
    kill(ended, SIGKILL);
    waitpid(ended, NULL, 0);
    ask(fixture, pid);
    const struct process *joined = process_find(&fixture->collector->processes, pid);
    struct pollfd end = {.fd = joined->pid_fd, .events = POLLIN};
    assert_true(was_answered(fixture));
    assert_int_equal(poll(&end, 1, 0), 0);
    assert_false(joined->follows_exec);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Else the event could be another process' with the same pid. */
static void no_event_is_opened_without_a_pidfd(void **state)
{
    (void)state;
    struct process process = {.pid = getpid(), .pid_fd = -1};
    const struct admission admission = {
        .engine = RECORD_ENGINE_PERF_TRAP, .may_arm = true, .event = {.period_ns = 1000000}};
    assert_null(admission_judge(&admission, &process, NULL, NULL, NULL, true));
    assert_int_equal(process.engine, ENGINE_TIMER);
    perf_event_close(&process.event);
}

/* The process that stops waiting while the launcher looks at it. */
static void *withdraw(void *shared)
{
    uint32_t *state = shared;
    while (load_acquire(state) != PROCESS_ANSWERED)
        if (swap_acq_rel(state, PROCESS_TAKEN, PROCESS_WITHDRAWN))
            break;
    return NULL;
}

static void a_process_that_withdraws_meanwhile_is_not_sampled(void **state)
{
    struct fixture *fixture = *state;
    struct process_slot *slot = &fixture->memory.shared->process;
    size_t withdrawn = 0;
    for (int i = 0; i < 2000 && withdrawn < 3; i++) {
        pthread_t thread;
        fill_slot(slot);
        memset(slot->executable, 0, sizeof(slot->executable));
        assert_true(readlink("/proc/self/exe", slot->executable, sizeof(slot->executable) - 1) > 0);
        assert_int_equal(pthread_create(&thread, NULL, withdraw, &slot->state), 0);
        ask_for(fixture, getpid(), fixture->memory.fd, fixture->memory.inode);
        pthread_join(thread, NULL);
        const struct process *joined = process_find(&fixture->collector->processes, getpid());
        bool was_withdrawn = slot->state == PROCESS_WITHDRAWN;
        assert_int_equal(joined->engine == ENGINE_NONE, was_withdrawn);
        withdrawn += was_withdrawn;
    }
    assert_true(withdrawn > 0);
}

/* The number is in memory that every member can write. */
static void a_number_of_requests_beyond_the_table_is_cut(void **state)
{
    struct fixture *fixture = *state;
    fixture->session.requests->used = UINT32_MAX;
    fixture->session.requests->doorbell++;
    while (handshake_answer(&fixture->collector->handshake))
        continue;
    fixture->collector->round.now_ns += 2000000000;
    handshake_free_abandoned(&fixture->collector->handshake);
    assert_int_equal(count(fixture), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(mappings_are_inherited_from_the_stated_sampled_process_of_this_user),
        TEST(a_slot_outside_of_the_table_is_no_original),
        TEST(a_forked_child_maps_its_memory),
        TEST(a_process_with_the_pid_of_an_ended_one_has_a_pidfd_of_its_own),
        TEST(no_event_is_opened_without_a_pidfd),
        TEST(a_process_that_withdraws_meanwhile_is_not_sampled),
        TEST(a_number_of_requests_beyond_the_table_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
