/* SPDX-License-Identifier: MIT */
/* static_exec PROGRAM ARGUMENT…: static, so that it is not recorded; starts one that can be. */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argc;
    if (fork() == 0) {
        execv(argv[1], argv + 1);
        _exit(9);
    }
    int status;
    wait(&status);
    return status != 0;
}
