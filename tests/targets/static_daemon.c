/* SPDX-License-Identifier: MIT */
/* static_daemon SECONDS PROGRAM ARGUMENT…: static, so that it is not recorded. Leaves its parent,
 * waits, executes the program with the environment as it is. Prints its pid. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (fork() != 0)
        _exit(0);
    setsid();
    if (fork() != 0)
        _exit(0);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    sleep((unsigned)atoi(argv[1]));
    execv(argv[2], argv + 2);
    return 9;
}
