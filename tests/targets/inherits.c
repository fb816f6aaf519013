/* SPDX-License-Identifier: MIT */
/*
 * inherits NUMBER DISPOSITION HOW PROGRAM: prepares the signal, burns 20 ms, and executes PROGRAM.
 *
 *     DISPOSITION  default, handle
 *     HOW          execve, execv, execvp, execvpe, execl, execlp, execle, after one that fails; vfork,
 *                  fork, posix_spawn, posix_spawnp, spawn-mask, spawn-default, system, popen
 */
#include "burn.h"

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *program;
static int number;

static void handle(int signal)
{
    (void)signal;
}

static void say_own_view(const char *when)
{
    struct sigaction action;
    sigset_t mask;
    sigaction(number, NULL, &action);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%s: %s %d\n", when,
           action.sa_handler == SIG_IGN   ? "ignored"
           : action.sa_handler == SIG_DFL ? "default"
                                          : "handled",
           sigismember(&mask, number));
    fflush(stdout);
}

static void execute(const char *how)
{
    char *words[] = {(char *)(uintptr_t)program, NULL};
    if (strcmp(how, "execve") == 0)
        execve(program, words, environ);
    else if (strcmp(how, "execv") == 0)
        execv(program, words);
    else if (strcmp(how, "execvp") == 0)
        execvp(program, words);
    else if (strcmp(how, "execvpe") == 0)
        execvpe(program, words, environ);
    else if (strcmp(how, "execl") == 0)
        execl(program, program, (char *)NULL);
    else if (strcmp(how, "execlp") == 0)
        execlp(program, program, (char *)NULL);
    else if (strcmp(how, "execle") == 0)
        execle(program, program, (char *)NULL, environ);
}

static void run_shell(bool reads)
{
    char line[256];
    if (!reads) {
        printf("system: %d\n", system(program));
        return;
    }
    FILE *pipe = popen(program, "r");
    while (pipe && fgets(line, sizeof(line), pipe))
        fputs(line, stdout);
    printf("pclose: %d\n", pipe ? pclose(pipe) : -1);
}

static void start(const char *how)
{
    char *words[] = {(char *)(uintptr_t)program, NULL};
    posix_spawnattr_t attributes;
    sigset_t set;
    pid_t pid = -1;
    int err = 0;
    posix_spawnattr_init(&attributes);
    sigemptyset(&set);
    sigaddset(&set, number);
    if (strcmp(how, "spawn-mask") == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigmask(&attributes, &set);
    } else if (strcmp(how, "spawn-default") == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setsigdefault(&attributes, &set);
    }
    if (strcmp(how, "vfork") == 0) {
        pid = vfork();
        if (pid == 0) {
            execute("execve");
            _exit(9);
        }
    } else if (strcmp(how, "fork") == 0) {
        pid = fork();
        if (pid == 0) {
            execute("execvp");
            _exit(9);
        }
    } else if (strcmp(how, "posix_spawnp") == 0)
        err = posix_spawnp(&pid, program, NULL, NULL, words, environ);
    else
        err = posix_spawn(&pid, program, NULL, &attributes, words, environ);
    int status = 0;
    waitpid(pid, &status, 0);
    printf("%s: %d, status %d\n", how, err, status);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 98;
    number = atoi(argv[1]);
    const char *how = argv[3];
    signal(number, strcmp(argv[2], "handle") == 0 ? handle : SIG_DFL);
    burn_until_ns(20000000);
    say_own_view("before");
    program = "/nonexistent/program";
    execute(how);
    say_own_view("after one that failed");
    program = argv[4];
    execute(how);
    if (strcmp(how, "system") == 0 || strcmp(how, "popen") == 0)
        run_shell(how[0] == 'p');
    else
        start(how);
    say_own_view("after");
    return 0;
}
