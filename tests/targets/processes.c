/* SPDX-License-Identifier: MIT */
/*
 * processes HOW MILLISECONDS [PROGRAM ARGUMENT…]: uses the time in a second process made in this way.
 *
 *     fork           the child runs on without exec
 *     fork-exec, vfork-exec, posix_spawn, clone-exec, exec    PROGRAM runs
 */
#include "burn.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static uint64_t end_ns;

__attribute__((noinline)) static int work_of_a_forked_child(void)
{
    return burn_until_ns(end_ns) == 0;
}

static int run_program(void *argv)
{
    char **words = argv;
    execv(words[0], words);
    _exit(99);
}

static pid_t start(const char *how, char **program)
{
    pid_t pid = -1;
    if (strcmp(how, "fork") == 0) {
        pid = fork();
        if (pid == 0)
            exit(work_of_a_forked_child());
    } else if (strcmp(how, "fork-exec") == 0) {
        pid = fork();
        if (pid == 0)
            run_program(program);
    } else if (strcmp(how, "vfork-exec") == 0) {
        pid = vfork();
        if (pid == 0)
            run_program(program);
    } else if (strcmp(how, "posix_spawn") == 0) {
        if (posix_spawn(&pid, program[0], NULL, NULL, program, environ) != 0)
            pid = -1;
    } else if (strcmp(how, "clone-exec") == 0) {
        static char stack[65536] __attribute__((aligned(16)));
        pid = clone(run_program, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, program);
    } else if (strcmp(how, "exec") == 0) {
        run_program(program);
    }
    return pid;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 98;
    end_ns = strtoull(argv[2], NULL, 10) * 1000000;
    pid_t pid = start(argv[1], argv + 3);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 97;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}
