/* SPDX-License-Identifier: MIT */
#include "base/pid_fd.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int ends[2];

/* Until the end of the pipe is closed. */
static void *wait_there(void *tid)
{
    char byte;
    __atomic_store_n((pid_t *)tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    ssize_t got = read(ends[0], &byte, 1);
    (void)got;
    return NULL;
}

static pid_t start_thread(pthread_t *thread)
{
    static pid_t tid;
    __atomic_store_n(&tid, 0, __ATOMIC_RELAXED);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(thread, NULL, wait_there, &tid), 0);
    while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    return tid;
}

/* The kernel wakes pthread_join() shortly before it gives up the tid. */
static void assert_is_reaped_soon(int pid_fd)
{
    enum { TRIES = 10000 };
    int tries = 0;
    while (!pid_fd_is_reaped(pid_fd) && tries++ < TRIES)
        usleep(1000);
    assert_true(tries < TRIES);
}

static void a_thread_has_a_descriptor_where_the_kernel_has_them(void **state)
{
    (void)state;
    pthread_t thread;
    const pid_t tid = start_thread(&thread);
    int of_thread = (int)syscall(SYS_pidfd_open, tid, O_EXCL); /* PIDFD_THREAD, Linux 6.9 */
    int *pid_fds = pid_fds_open(&tid, 1);
    assert_non_null(pid_fds);
    assert_int_equal(pid_fds[0] >= 0, of_thread >= 0);
    assert_false(pid_fd_is_reaped(pid_fds[0]));
    close(ends[1]);
    pthread_join(thread, NULL);
    if (of_thread >= 0) {
        assert_is_reaped_soon(pid_fds[0]);
        close(of_thread);
    }
    pid_fds_close(pid_fds, 1);
    close(ends[0]);
}

static void an_ended_process_is_there_until_its_parent_waits(void **state)
{
    (void)state;
    siginfo_t info;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    int *pid_fds = pid_fds_open(&pid, 1);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(pid_fd_is_reaped(pid_fds[0]));
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
    assert_true(pid_fd_is_reaped(pid_fds[0]));
    pid_fds_close(pid_fds, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_a_descriptor_where_the_kernel_has_them),
        cmocka_unit_test(an_ended_process_is_there_until_its_parent_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
