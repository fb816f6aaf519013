/* SPDX-License-Identifier: MIT */
/*
 * Requests as honest and hostile processes make them. The process is the test itself or a child, the
 * launcher is the same test.
 */
#include "made_request.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_process_with_its_memory_is_answered_in_this_memory(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, getpid());
    assert_int_equal(count(fixture), 1);
    assert_true(was_answered(fixture));
    assert_int_equal(first(fixture)->pid, getpid());
    assert_int_equal(fixture->memory.shared->verdict.engine, first(fixture)->engine);
    assert_int_equal(request_of(fixture)->state, REQUEST_REPLIED);
}

/* In pid namespaces every process has another pid, which may be another process' here. */
static void a_process_is_known_by_its_memory_and_not_by_the_pid_that_it_states(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, getppid());
    assert_int_equal(count(fixture), 1);
    assert_int_equal(first(fixture)->pid, getpid());
    assert_int_equal(first(fixture)->parent_pid, getppid());
    assert_int_equal(first(fixture)->stated_pid, getppid());
}

static void statements_about_the_past_are_held_against_the_clocks(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, getpid());
    assert_true(first(fixture)->start_ns <= monotonic_ns());
    assert_true(first(fixture)->account.start_cpu_ns < 120000000000); /* the test's time limit */
    assert_true(fixture->summary.cpu_seen_ns < 120000000000);
}

/* Nothing else of the request decides. */
static void no_memory_no_answer(void **state)
{
    struct fixture *fixture = *state;
    static const pid_t pids[] = {1, 0, -1, INT32_MIN};
    fill_slot(&fixture->memory.shared->process);
    for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
        ask_for(fixture, pids[i], 0, fixture->memory.inode);
        assert_int_equal(request_of(fixture)->state, REQUEST_REPLIED);
        assert_false(was_answered(fixture));
        request_of(fixture)->reason = REQUEST_UNSEEN; /* as the process finds out */
        request_of(fixture)->state = REQUEST_REFUSED;
        take(fixture);
        assert_int_equal(request_of(fixture)->state, REQUEST_FREE);
        assert_int_equal(fixture->summary.not_followed.count, i + 1);
    }
    ask_for(fixture, getpid(), fixture->memory.fd, fixture->memory.inode + 1);
    assert_false(was_answered(fixture));
    assert_int_equal(count(fixture), 0);
    assert_int_equal(fixture->summary.cpu_seen_ns, 0);
}

/* A file that could shrink ends the launcher by SIGBUS; one of another kind may do anything. */
static void a_memory_that_is_not_sealed_or_of_another_size_is_refused(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        off_t bytes;
        int seals;
    } cases[] = {{sizeof(struct process_memory), F_SEAL_SEAL | F_SEAL_GROW},
                 {sizeof(struct process_memory), 0},
                 {sizeof(struct process_memory) - 1, SESSION_MEMORY_SEALS},
                 {sizeof(struct process_memory), SESSION_MEMORY_SEALS | F_SEAL_WRITE},
                 {4096, SESSION_MEMORY_SEALS}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stat status;
        struct process_slot slot = {0};
        int fd = memfd_create("rec-rings", MFD_ALLOW_SEALING);
        fill_slot(&slot);
        assert_int_equal(pwrite(fd, &slot, sizeof(slot), 0), sizeof(slot));
        assert_int_equal(ftruncate(fd, cases[i].bytes), 0);
        assert_int_equal(fcntl(fd, F_ADD_SEALS, cases[i].seals), 0);
        assert_int_equal(fstat(fd, &status), 0);
        ask_for(fixture, getpid(), fd, status.st_ino);
        assert_int_equal(request_of(fixture)->state, REQUEST_REPLIED);
        assert_int_equal(pread(fd, &slot, sizeof(slot), 0), sizeof(slot));
        assert_int_equal(slot.state, PROCESS_REQUESTED); /* not mapped by the launcher */
        close(fd);
    }
    assert_int_equal(count(fixture), 0);
}

/* Opening has effects on devices, and contacts the server of a FUSE file. */
static void a_file_that_is_no_memory_is_not_opened(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    char path[] = "/tmp/rec-test-XXXXXX", event[4096];
    int fd = mkstemp(path), watch = inotify_init1(IN_NONBLOCK);
    assert_int_equal(fstat(fd, &status), 0);
    assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    ask_for(fixture, getpid(), fd, status.st_ino);
    assert_int_equal(read(watch, event, sizeof(event)), -1);
    close(open(path, O_RDWR));
    assert_true(read(watch, event, sizeof(event)) > 0);
    unlink(path);
    close(watch);
    close(fd);
}

/* For a process that may not write large files. A memfd of other content is nobody's to change. */
static void an_empty_memory_gets_its_size_on_request(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *name;
        off_t bytes, bytes_after;
    } cases[] = {{"rec-rings", 0, sizeof(struct process_memory)},
                 {"rec-rings", 1, 1},
                 {"rec-rings2", 0, 0},
                 {"rec-rings (deleted)", 0, 0},
                 {"other", 0, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stat status;
        int fd = memfd_create(cases[i].name, MFD_ALLOW_SEALING);
        assert_int_equal(ftruncate(fd, cases[i].bytes), 0);
        assert_int_equal(fstat(fd, &status), 0);
        *request_of(fixture) = (struct join_request){.pid = (uint32_t)getpid(),
                                                     .memory_fd = (uint32_t)fd,
                                                     .memory_inode = status.st_ino,
                                                     .wants_size = 1,
                                                     .state = REQUEST_MADE};
        take(fixture);
        assert_int_equal(request_of(fixture)->state, REQUEST_REPLIED);
        assert_int_equal(fstat(fd, &status), 0);
        assert_int_equal(status.st_size, cases[i].bytes_after);
        assert_int_equal(fcntl(fd, F_GET_SEALS),
                         cases[i].bytes_after > 1 ? SESSION_MEMORY_SEALS : 0);
        close(fd);
    }
    assert_int_equal(count(fixture), 0);
}

/* A service that is sent a descriptor has it, but neither maps it nor descends from the command. */
static void a_process_maps_its_memory_and_descends_from_the_command(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        bool maps, is_left, is_member;
    } cases[] = {{false, false, false}, {true, true, false}, {true, false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t pid = start_other(fixture, cases[i].maps, cases[i].is_left);
        ask(fixture, pid);
        assert_int_equal(count(fixture), cases[i].is_member);
        assert_int_equal(was_answered(fixture), cases[i].is_member);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *files = opendir("/proc/self/fd");
    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

static void a_descriptor_of_another_file_is_given_back(void **state)
{
    struct fixture *fixture = *state;
    struct join_request request = {.memory_fd = (uint32_t)fixture->memory.fd,
                                   .memory_inode = fixture->memory.inode};
    int pid_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int fd = target_memory_take(&fixture->session, pid_fd, &request);
    assert_true(fd >= 0);
    close(fd);
    size_t count_before = open_files();
    request.memory_inode++;
    assert_int_equal(target_memory_take(&fixture->session, pid_fd, &request), -1);
    request.memory_fd = UINT32_MAX;
    assert_int_equal(target_memory_take(&fixture->session, pid_fd, &request), -1);
    assert_int_equal(open_files(), count_before);
    close(pid_fd);
}

/* The word is shared by all processes: a member that clears it would have a debugged process armed. */
static void a_call_of_ptrace_is_remembered(void **state)
{
    struct fixture *fixture = *state;
    struct handshake *handshake = &fixture->collector->handshake;
    assert_false(handshake->has_tracers);
    fixture->session.requests->has_tracers = 1;
    handshake_answer(handshake);
    fixture->session.requests->has_tracers = 0;
    handshake_answer(handshake);
    assert_true(handshake->has_tracers);
}

/* In a recording of root, a request may state a descriptor of any process of root. */
static void only_the_user_of_the_recording_gives_descriptors_by_pidfd(void **state)
{
    struct fixture *fixture = *state;
    const uid_t user = geteuid() ? geteuid() : 65534;
    const struct {
        uid_t recording_uid;
        bool is_left, is_taken;
    } cases[] = {{user, true, false}, {user, false, true}, {0, false, false}, {1, false, false}};
    enter_other(fixture, getpid(), (int)syscall(SYS_pidfd_open, getpid(), 0));
    close(fixture->session.own_files); /* needed to open what was found in /proc */
    fixture->session.own_files = -1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture->session.uid = cases[i].recording_uid;
        pid_t pid = start_other_as(fixture, true, cases[i].is_left, user);
        ask(fixture, pid);
        assert_int_equal(was_answered(fixture), cases[i].is_taken);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

/* A process of another user was handed the memory, and may even map it. */
static void a_memory_of_another_user_is_refused(void **state)
{
    struct fixture *fixture = *state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(fchown(fixture->memory.fd, 65534, 65534), 0);
    ask(fixture, getpid());
    assert_int_equal(count(fixture), 0);
    assert_false(was_answered(fixture));
}

/* Only the first request of a start is answered: a second one would replace the process. */
static void a_request_in_the_name_of_an_answered_process_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, getpid());
    uint32_t slot = first(fixture)->slot;
    ask_for(fixture, getpid(), fixture->memory.fd, fixture->memory.inode);
    assert_int_equal(count(fixture), 1);
    assert_int_equal(first(fixture)->slot, slot);
    assert_false(first(fixture)->has_ended);
}

/* The process gave up in the meantime: it runs without a handler, and must not be armed. */
static void a_withdrawn_request_is_not_answered(void **state)
{
    struct fixture *fixture = *state;
    fill_slot(&fixture->memory.shared->process);
    fixture->memory.shared->process.state = PROCESS_WITHDRAWN;
    ask_for(fixture, getpid(), fixture->memory.fd, fixture->memory.inode);
    assert_int_equal(count(fixture), 0);
    assert_int_equal(fixture->memory.shared->process.state, PROCESS_WITHDRAWN);
}

static pid_t pid_of_nobody(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void look_twice(struct collector *collector)
{
    for (int i = 0; i < 2; i++) {
        collector->round.now_ns += 2000000000;
        handshake_free_abandoned(&collector->handshake);
    }
}

/* Else a program that kills thousands of children while they start has no request left. */
static void the_requests_of_processes_killed_at_their_start_are_given_back(void **state)
{
    struct fixture *fixture = *state;
    static const enum request_state states[] = {REQUEST_CLAIMED, REQUEST_MADE};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        ask_for(fixture, pid_of_nobody(), 3, fixture->memory.inode + 1);
        request_of(fixture)->state = states[i];
        take(fixture);
        look_twice(fixture->collector);
        assert_int_equal(request_of(fixture)->state, REQUEST_FREE);
    }
    assert_int_equal(fixture->summary.not_followed.count, 0);
}

static void the_request_of_a_process_that_takes_long_to_read_the_reply_is_its_own(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, getpid());
    look_twice(fixture->collector);
    assert_int_equal(request_of(fixture)->state, REQUEST_REPLIED);
}

static void an_abandoned_request_is_freed_with_the_reply(void **state)
{
    struct fixture *fixture = *state;
    static const enum request_reason reasons[] = {REQUEST_LATE, REQUEST_NO_MEMORY, 77};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        *request_of(fixture) = (struct join_request){.pid = 4711,
                                                     .reason = reasons[i],
                                                     .name = "sixteen letters.",
                                                     .state = REQUEST_REFUSED};
        take(fixture);
        assert_int_equal(request_of(fixture)->state, REQUEST_FREE);
    }
    assert_int_equal(fixture->summary.not_followed.count, 2); /* the third states no reason */
}

/* Answers take time: each has the launcher look at all processes of the machine. */
static void withdraw_until(struct requests *requests, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (requests->requests[i].state == REQUEST_MADE)
            requests->requests[i].state = REQUEST_FREE;
}

/* A member that rings all the time must not keep the launcher from reading the rings of others. */
static void many_requests_take_several_rounds(void **state)
{
    struct fixture *fixture = *state;
    struct requests *requests = fixture->session.requests;
    struct handshake *handshake = &fixture->collector->handshake;
    const size_t last = SESSION_REQUESTS - 64;
    for (size_t i = 0; i < SESSION_REQUESTS; i++)
        requests->requests[i] = (struct join_request){.pid = 1, .state = REQUEST_MADE};
    requests->used = SESSION_REQUESTS;
    requests->doorbell++;
    size_t rounds = 0;
    for (; handshake_answer(handshake); rounds++)
        if (rounds == 2)
            withdraw_until(requests, last);
        else
            assert_true(rounds < SESSION_REQUESTS);
    assert_true(rounds > 1);
    assert_int_equal(requests->requests[0].state, REQUEST_REPLIED);
    for (size_t i = last; i < SESSION_REQUESTS; i++)
        assert_int_equal(requests->requests[i].state, REQUEST_REPLIED);
}

struct waiting {
    uint32_t *state;
    const struct outside *outside;
    size_t recorded; /* processes from outside, when the reply came */
};

static void *wait_for_reply(void *argument)
{
    struct waiting *waiting = argument;
    while (load_acquire(waiting->state) != REQUEST_REPLIED)
        continue;
    waiting->recorded = outside_count(waiting->outside);
    return NULL;
}

/* Each executable with this file is a Go program from now on. */
static void take_for_go(struct fixture *fixture)
{
    struct go_programs *known = &fixture->collector->handshake.admission.go_programs;
    struct stat file;
    assert_int_equal(stat("/proc/self/exe", &file), 0);
    known->files[0].device = file.st_dev;
    known->files[0].inode = file.st_ino;
    known->files[0].bytes = file.st_size;
    known->files[0].changed = file.st_ctim;
    known->files[0].is_go = true;
}

/* A thread or child that starts while the events are opened would be sampled twice. */
static void a_go_program_waits_until_it_is_recorded_from_outside(void **state)
{
    struct fixture *fixture = *state;
    struct outside *outside = &fixture->collector->outside;
    struct waiting waiting = {.state = &request_of(fixture)->state, .outside = outside};
    pthread_t thread;
    if (thread_events_probe() != 0)
        skip();
    outside->is_permitted = true;
    outside->config.open_files = &fixture->kept;
    take_for_go(fixture);
    pid_t pid = start_other(fixture, true, false);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_reply, &waiting), 0);
    ask(fixture, pid);
    pthread_join(thread, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(waiting.recorded, 1);
    assert_int_equal(count(fixture), 0);
}

/* The memory of an ended process is returned. */
static void nothing_of_an_ended_process_stays_mapped(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, getpid());
    struct process *process = process_table_at(&fixture->collector->processes, 0);
    const void *shared = process->memory->shared;
    process_end_program(&fixture->collector->watch, process);
    process_watch_find_ended(&fixture->collector->watch);
    assert_int_equal(count(fixture), 0);
    assert_int_equal(msync((void *)(uintptr_t)shared, 4096, MS_ASYNC), -1); /* ENOMEM */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_call_of_ptrace_is_remembered),
        TEST(a_process_with_its_memory_is_answered_in_this_memory),
        TEST(a_process_is_known_by_its_memory_and_not_by_the_pid_that_it_states),
        TEST(statements_about_the_past_are_held_against_the_clocks),
        TEST(no_memory_no_answer),
        TEST(a_memory_that_is_not_sealed_or_of_another_size_is_refused),
        TEST(a_file_that_is_no_memory_is_not_opened),
        TEST(an_empty_memory_gets_its_size_on_request),
        TEST(a_process_maps_its_memory_and_descends_from_the_command),
        TEST(a_descriptor_of_another_file_is_given_back),
        TEST(only_the_user_of_the_recording_gives_descriptors_by_pidfd),
        TEST(a_memory_of_another_user_is_refused),
        TEST(a_request_in_the_name_of_an_answered_process_changes_nothing),
        TEST(a_withdrawn_request_is_not_answered),
        TEST(the_requests_of_processes_killed_at_their_start_are_given_back),
        TEST(the_request_of_a_process_that_takes_long_to_read_the_reply_is_its_own),
        TEST(an_abandoned_request_is_freed_with_the_reply),
        TEST(many_requests_take_several_rounds),
        TEST(a_go_program_waits_until_it_is_recorded_from_outside),
        TEST(nothing_of_an_ended_process_stays_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
