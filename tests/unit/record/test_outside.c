/* SPDX-License-Identifier: MIT */
/* A pid given again between its choice and the opening of its events: the next process is not recorded.
 * And the descriptors of a process with many threads. */
#include "quiet_collector.h"

#include "base/clock.h"
#include "base/pid_fd.h"
#include "record/attach/attach_targets.h"
#include "record/perf_ring/ring_growth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int fd;
};

static struct child start_child(void)
{
    struct child child = {.pid = fork()};
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    child.fd = pid_fd_open(child.pid);
    assert_true(child.fd >= 0);
    return child;
}

static void end_child(struct child child)
{
    kill(child.pid, SIGKILL);
    waitpid(child.pid, NULL, 0);
}

/* The pid of a child, held by the descriptor of an earlier process. */
static struct attached given_again(struct child next)
{
    struct child earlier = start_child();
    end_child(earlier);
    return (struct attached){next.pid, earlier.fd};
}

static struct outside *permitted(void **state)
{
    struct fixture *fixture = *state;
    struct outside *outside = &fixture->collector->outside;
    if (thread_events_probe() != 0)
        skip();
    outside->is_permitted = true;
    outside->config.open_files = &fixture->kept;
    return outside;
}

static void a_running_process_is_adopted_unless_its_pid_was_given_again(void **state)
{
    struct outside *outside = permitted(state);
    struct child child = start_child();
    const struct attached next = given_again(child);
    assert_int_equal(outside_adopt(outside, next, 0, false), -ESRCH);
    assert_false(outside_has(outside, child.pid));
    assert_int_equal(outside_count(outside), 0);
    assert_int_equal(outside_adopt(outside, (struct attached){child.pid, child.fd}, 0, false), 0);
    assert_true(outside_has(outside, child.pid));
    end_child(child);
    close(child.fd);
    close(next.pid_fd);
}

static void an_exec_is_awaited_unless_the_pid_was_given_again(void **state)
{
    struct outside *outside = permitted(state);
    struct child child = start_child();
    const struct attached next = given_again(child);
    assert_int_equal(outside_await_exec(outside, next, false), -ESRCH);
    assert_false(outside_awaits_exec(outside, child.pid));
    assert_int_equal(outside_await_exec(outside, (struct attached){child.pid, child.fd}, false), 0);
    assert_true(outside_awaits_exec(outside, child.pid));
    end_child(child);
    close(child.fd);
    close(next.pid_fd);
}

static void without_a_descriptor_no_process_is_recorded(void **state)
{
    struct outside *outside = permitted(state);
    struct child child = start_child();
    const struct attached unproven = {child.pid, -1};
    assert_int_equal(outside_adopt(outside, unproven, 0, false), -ESRCH);
    assert_int_equal(outside_await_exec(outside, unproven, false), -ESRCH);
    assert_int_equal(outside_count(outside), 0);
    end_child(child);
    close(child.fd);
}

/* Events with larger copies of the stack, on the process behind this descriptor. */
static uint32_t grow(struct outside *outside, pid_t pid, int pid_fd)
{
    struct ring_process *process = ring_process_find(&outside->source.tasks.processes, pid);
    const int own_fd = process->process.pid_fd;
    process->process.pid_fd = pid_fd;
    process->events->keeps_size = false;
    process->events->samples = process->events->cuts = 10;
    outside->source.can_grow = true;
    ring_growth_round(&outside->source);
    process->process.pid_fd = own_fd;
    return process->events->stack_bytes;
}

static void larger_copies_are_not_opened_on_the_next_process_with_the_pid(void **state)
{
    struct outside *outside = permitted(state);
    struct child child = start_child();
    const struct attached next = given_again(child);
    assert_int_equal(outside_adopt(outside, (struct attached){child.pid, child.fd}, 0, false), 0);
    assert_int_equal(grow(outside, child.pid, next.pid_fd), outside->source.events.stack_bytes);
    assert_int_equal(grow(outside, child.pid, -1), outside->source.events.stack_bytes);
    assert_true(grow(outside, child.pid, child.fd) > outside->source.events.stack_bytes);
    end_child(child);
    close(child.fd);
    close(next.pid_fd);
}

/* A record of a process that has ended, as the pid belongs to a later process. */
static void a_record_from_before_the_process_is_of_another_process(void **state)
{
    struct outside *outside = permitted(state);
    struct ring_source *source = &outside->source;
    struct child first = start_child(), child = start_child();
    const uint64_t before_ns = monotonic_ns() - 1000000000;
    assert_int_equal(outside_adopt(outside, (struct attached){first.pid, first.fd}, 0, false), 0);
    ring_source_meet(source, child.pid, child.pid, before_ns);
    struct ring_process *process = ring_process_find(&source->tasks.processes, child.pid);
    assert_int_equal(process->process.pid_fd, -1);
    assert_string_equal(process->process.name, "?");
    assert_false(ring_process_is_own(process));
    assert_false(ring_maps_read(&source->maps, process, before_ns));
    ring_process_end(&source->tasks.processes, process);
    ring_source_meet(source, child.pid, child.pid, monotonic_ns());
    process = ring_process_find(&source->tasks.processes, child.pid);
    assert_true(process->process.pid_fd >= 0);
    assert_true(ring_process_is_own(process));
    assert_true(ring_maps_read(&source->maps, process, monotonic_ns()));
    end_child(child);
    end_child(first);
    close(child.fd);
    close(first.fd);
}

enum { THREADS = 40 };

static void *sleep_long(void *ready)
{
    if (ready)
        (void)!write(*(int *)ready, "x", 1);
    pause();
    return NULL;
}

static struct child start_threads(void)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    struct child child = {.pid = fork()};
    if (child.pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 1; child.pid == 0 && i < THREADS; i++)
        pthread_create(&(pthread_t){0}, NULL, sleep_long, i + 1 < THREADS ? NULL : &ends[1]);
    if (child.pid == 0)
        sleep_long(NULL);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    child.fd = pid_fd_open(child.pid);
    return child;
}

/* The limit has room for the events of the threads. */
static void a_process_gets_a_share_of_the_descriptors(void **state)
{
    struct fixture *fixture = *state;
    struct outside *outside = permitted(state);
    const rlim_t processors = (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
    struct rlimit before, files;
    struct child many = start_threads(), other = start_child();
    getrlimit(RLIMIT_NOFILE, &before);
    files = (struct rlimit){100 + 2 * THREADS * processors, before.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        skip();
    assert_int_equal(outside_adopt(outside, (struct attached){many.pid, many.fd}, 0, false), 0);
    assert_int_equal(outside_adopt(outside, (struct attached){other.pid, other.fd}, 0, false), 0);
    setrlimit(RLIMIT_NOFILE, &before);
    const struct ring_process *process =
        ring_process_find(&outside->source.tasks.processes, many.pid);
    assert_in_range(process->events->count, 1, files.rlim_cur / 4);
    assert_int_equal(process->events->count, process->live_threads * outside->source.rings.count);
    assert_int_equal(fixture->summary.not_followed.count, 1);
    const struct record_process *named = &fixture->summary.not_followed.items[0];
    assert_int_equal(named->pid, many.pid);
    assert_non_null(strstr(named->name, " of 40 threads"));
    end_child(many);
    end_child(other);
    close(many.fd);
    close(other.fd);
}

static int attach_two(struct fixture *fixture, const pid_t *tids, const int *pid_fds)
{
    struct outside *outside = &fixture->collector->outside;
    const struct own_rights own = own_rights_read();
    struct error error = {""};
    pid_t targets[2] = {tids[0], tids[1]};
    struct record_options options = {
        .targets = targets, .target_count = 2, .targets_are_threads = true};
    outside->config.reach = REACH_THREAD;
    assert_int_equal(ring_source_open(&outside->source, &outside->config), 0);
    int err = attach_targets_open(&outside->source, &options, pid_fds, &own, &error);
    ring_source_close(&outside->source);
    return err;
}

static void *give_tid(void *tid)
{
    __atomic_store_n((pid_t *)tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    return sleep_long(NULL);
}

static void each_thread_of_a_process_is_proven(void **state)
{
    struct fixture *fixture = *state;
    pid_t tids[2] = {getpid(), 0};
    pthread_t thread;
    if (thread_events_probe() != 0)
        skip();
    pthread_create(&thread, NULL, give_tid, &tids[1]);
    while (!__atomic_load_n(&tids[1], __ATOMIC_ACQUIRE))
        usleep(100);
    struct child earlier = start_child();
    end_child(earlier);
    const int own_fd = pid_fd_open(getpid());
    assert_int_equal(attach_two(fixture, tids, (int[]){own_fd, -1}), 0);
    assert_int_equal(attach_two(fixture, tids, (int[]){own_fd, earlier.fd}), -ESRCH);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    close(own_fd);
    close(earlier.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_descriptor_no_process_is_recorded, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            larger_copies_are_not_opened_on_the_next_process_with_the_pid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_record_from_before_the_process_is_of_another_process,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_process_gets_a_share_of_the_descriptors, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_thread_of_a_process_is_proven, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_running_process_is_adopted_unless_its_pid_was_given_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_exec_is_awaited_unless_the_pid_was_given_again, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
