/* SPDX-License-Identifier: MIT */
/*
 * floor HANDLER.so FREQUENCY COMMAND...: the least cost of a sampler of this kind.
 *
 * Runs the command with an empty SIGTRAP handler preloaded, and arms the event of rec from outside: the cost of the
 * timer interrupt, the signal and the return. The handler's constructor waits until the event is armed, as in rec.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int arm(pid_t pid, unsigned long frequency)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000000 / frequency,
        .disabled = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .remove_on_exec = 1,
        .sigtrap = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void run(const char *handler, char **command)
{
    setenv("LD_PRELOAD", handler, 1);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    pid_t pid = fork();
    if (pid == 0)
        run(argv[1], argv + 3);
    int status;
    if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
        return 1;
    int fd = arm(pid, strtoul(argv[2], NULL, 10));
    if (fd < 0) {
        fprintf(stderr, "floor: perf events: %s\n", strerror(errno));
        kill(pid, SIGKILL);
        return 1;
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    kill(pid, SIGCONT);
    if (waitpid(pid, &status, 0) != pid)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
