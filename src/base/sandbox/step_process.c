/* SPDX-License-Identifier: MIT */
#include "base/sandbox/step_process.h"

#include "base/sandbox/workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noreturn)) static void run(int step(void *context), void *context, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    exit(getppid() == parent ? step(context) : EXIT_FAILURE);
}

int step_process_run(int step(void *context), void *context)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        run(step, context, parent);
    int status = worker_reap(pid);
    return WIFSIGNALED(status) ? STEP_PROCESS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
