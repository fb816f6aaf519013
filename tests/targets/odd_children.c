/* SPDX-License-Identifier: MIT */
/*
 * odd_children HOW N MILLISECONDS: N children with so much CPU time each, one at a time.
 *
 *     vfork     run on in the parent's memory
 *     clone3    made by a system call of our own
 *     left      forked, end with the parent, and nobody waits for them
 *     ignored   forked, end before the parent, which ignores SIGCHLD
 */
#include "burn.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t work_ns;

static void burn_more(void)
{
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + work_ns);
}

static pid_t start(const char *how)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    if (strcmp(how, "clone3") == 0)
        return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
    return fork();
}

int main(int argc, char **argv)
{
    int ends[2], count = argc > 3 ? atoi(argv[2]) : 0;
    if (count == 0 || pipe(ends) != 0)
        return 1;
    const char *how = argv[1];
    bool waits = strcmp(how, "vfork") == 0 || strcmp(how, "clone3") == 0;
    work_ns = strtoull(argv[3], NULL, 10) * 1000000;
    if (strcmp(how, "ignored") == 0)
        signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < count; i++) {
        pid_t pid =
            strcmp(how, "vfork") == 0 ? vfork() : start(how); /* its child must not return */
        if (pid == 0) {
            burn_more();
            if (waits)
                _exit(0);
            char byte;
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) == 0 ? 0 : 2); /* until the parent closes its end */
        }
        if (waits && waitpid(pid, NULL, 0) != pid)
            return 2;
    }
    for (int i = 0; i < count; i++)
        burn_more();
    if (strcmp(how, "ignored") == 0) {
        close(ends[1]);
        while (waitpid(-1, NULL, 0) > 0)
            continue;
    }
    return 0;
}
