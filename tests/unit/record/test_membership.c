/* SPDX-License-Identifier: MIT */
/* Descent from the command: by a line of parents, the first one as the kernel states it for the pidfd. */
#include "quiet_collector.h"

#include "record/process/membership.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INIT = 1 };

static bool descends(struct fixture *fixture, pid_t pid, pid_t parent)
{
    return membership_descends(&fixture->session, &fixture->collector->processes, pid, parent);
}

static int pidfd_of(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    assert_true(fd >= 0);
    return fd;
}

static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_child_of_the_launcher_descends_and_init_does_not(void **state)
{
    struct fixture *fixture = *state;
    pid_t pid = start_child();
    assert_true(descends(fixture, pid, 0));
    assert_false(descends(fixture, INIT, 0));
    end_child(pid);
}

/* The pid may belong to another process by now, the pidfd does not. */
static void the_parent_of_the_pidfd_decides(void **state)
{
    struct fixture *fixture = *state;
    pid_t pid = start_child();
    assert_true(descends(fixture, INIT, getpid()));
    assert_false(descends(fixture, pid, INIT));
    end_child(pid);
}

/* Its pid may be another process' by now. */
static void an_ancestor_that_has_ended_proves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct own_memory memory = own_memory_make();
    pid_t pid = start_child();
    struct process init = {.pid = INIT,
                           .pid_fd = pidfd_of(pid),
                           .memory = own_memory_mapped(&memory, &fixture->session)};
    struct process *entered = process_table_add(&fixture->collector->processes, &init);
    own_memory_free(&memory);
    assert_true(descends(fixture, INIT, 0));
    end_child(pid);
    assert_false(descends(fixture, INIT, 0));
    close(entered->pid_fd);
    entered->pid_fd = -1;
    assert_false(descends(fixture, INIT, 0));
}

/* A program with this environment. */
static pid_t start_program(char *const environment[])
{
    int executed[2];
    char byte;
    assert_int_equal(pipe2(executed, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        execle("/bin/sleep", "sleep", "60", NULL, environment);
        _exit(1);
    }
    close(executed[1]);
    assert_int_equal(read(executed[0], &byte, 1), 0);
    close(executed[0]);
    return pid;
}

/* For a process that was left to init. */
static void a_variable_of_the_session_proves_descent(void **state)
{
    struct fixture *fixture = *state;
    char variable[SESSION_NAME_BYTES], inside[SESSION_NAME_BYTES + 2] = "A=";
    session_name(&fixture->session, variable);
    strcat(inside, variable);
    char *const environments[][3] = {{NULL}, {inside}, {variable}, {"A=1", variable}};
    for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
        pid_t pid = start_program(environments[i]);
        assert_int_equal(descends(fixture, pid, INIT), i >= 2);
        end_child(pid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_child_of_the_launcher_descends_and_init_does_not),
        TEST(the_parent_of_the_pidfd_decides),
        TEST(an_ancestor_that_has_ended_proves_nothing),
        TEST(a_variable_of_the_session_proves_descent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
