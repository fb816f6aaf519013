/* SPDX-License-Identifier: MIT */
/* same_names: has functions of its own by names of the C library's, which does not call them. */
#include "burn.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int called(const char *name)
{
    printf("%s() was called\n", name);
    return -1;
}

int execv(const char *path, char *const *argv)
{
    (void)path;
    (void)argv;
    return called("execv");
}

int execve(const char *path, char *const *argv, char *const *environment)
{
    (void)environment;
    return execv(path, argv);
}

int execvpe(const char *file, char *const *argv, char *const *environment)
{
    (void)environment;
    return execv(file, argv);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    (void)pid;
    (void)status;
    (void)options;
    (void)usage;
    return called("wait4");
}

static void execute(int how)
{
    if (how == 0)
        execl("/bin/echo", "echo", "executed", NULL);
    else if (how == 1)
        execlp("echo", "echo", "executed", NULL);
    else
        execle("/bin/echo", "echo", "executed", NULL, environ);
    fflush(stdout);
    _exit(1);
}

int main(void)
{
    burn_until_ns(100000000);
    for (int how = 0; how < 3; how++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            execute(how);
        waitpid(pid, &status, 0);
        printf("%d\n", status);
        fflush(stdout);
    }
    return 0;
}
