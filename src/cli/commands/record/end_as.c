/* SPDX-License-Identifier: MIT */
#include "cli/commands/record/end_as.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

int end_as(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);
    int number = WTERMSIG(wait_status);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    fflush(NULL);
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    return 128 + number;
}
