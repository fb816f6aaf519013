/* SPDX-License-Identifier: MIT */
/* static_exec [-p LIBRARY] PROGRAM ARGUMENT…: static, so that it is not recorded; starts one that can be, with a
 * library that is preloaded before all others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void preload_first(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char list[8192];
    snprintf(list, sizeof(list), "%s%s%s", library, others ? ":" : "", others ? others : "");
    setenv("LD_PRELOAD", list, 1);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "-p") == 0) {
        preload_first(argv[2]);
        argv += 2;
    }
    if (fork() == 0) {
        execv(argv[1], argv + 1);
        _exit(9);
    }
    int status;
    wait(&status);
    return status != 0;
}
