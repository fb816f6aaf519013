/* SPDX-License-Identifier: MIT */
/* A pid given again between its choice and the opening of its events: the next process is not recorded. */
#include "quiet_collector.h"

#include "base/pid_fd.h"
#include "record/perf_ring/thread_events.h"

#include <errno.h>
#include <signal.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_running_process_is_adopted_unless_its_pid_was_given_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_exec_is_awaited_unless_the_pid_was_given_again, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
