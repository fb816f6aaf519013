/* SPDX-License-Identifier: MIT */
#include "base/time_limited.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The largest errno (include/linux/err.h) needs more than the 8 bits of an exit status. */
static void run_and_answer(int (*function)(void *context), void *context, int answer_fd)
{
    int result = function(context);
    ssize_t written = write(answer_fd, &result, sizeof(result));
    _exit(written != (ssize_t)sizeof(result));
}

/* The answer, or the end of the process, closes the wait. */
static int wait_for_answer(int answer_fd, uint64_t limit_ns)
{
    struct pollfd polled = {.fd = answer_fd, .events = POLLIN};
    const uint64_t end_ns = monotonic_ns() + limit_ns;
    int result;
    for (;;) {
        uint64_t now_ns = monotonic_ns();
        int ready = now_ns < end_ns ? poll(&polled, 1, (int)((end_ns - now_ns) / 1000000 + 1)) : 0;
        if (ready > 0)
            return read(answer_fd, &result, sizeof(result)) == (ssize_t)sizeof(result) ? result
                                                                                       : -ECANCELED;
        if (ready == 0 && now_ns >= end_ns)
            return -ETIMEDOUT;
    }
}

int time_limited_run(int (*function)(void *context), void *context, uint64_t limit_ns)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_and_answer(function, context, ends[1]);
    }
    int err = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (err == 0)
        err = wait_for_answer(ends[0], limit_ns);
    close(ends[0]);
    if (err == -ETIMEDOUT)
        kill(pid, SIGKILL);
    if (pid > 0)
        waitpid(pid, NULL, err == -ETIMEDOUT ? WNOHANG : 0);
    return err;
}
