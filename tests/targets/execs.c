/* SPDX-License-Identifier: MIT */
/* execs COUNT: children that are sampled for up to two milliseconds and then exec `true`, in turn by fork
 * and by posix_spawn of a shell that execs; says how many ended otherwise. */
#include "burn.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pid_t start(uint64_t random)
{
    static char *const truth[] = {"true", NULL};
    static char *const shell[] = {"sh", "-c", "exec true", NULL};
    pid_t pid;
    if (random % 2)
        return posix_spawnp(&pid, "sh", NULL, NULL, shell, environ) == 0 ? pid : -1;
    pid = fork();
    if (pid == 0) {
        burn_until_ns((random >> 8) % 2000000);
        execvp(truth[0], truth);
        _exit(99);
    }
    return pid;
}

int main(int argc, char **argv)
{
    unsigned long count = strtoul(argc > 1 ? argv[1] : "100", NULL, 10), hurt = 0;
    uint64_t random = 1;
    for (unsigned long i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        pid_t pid = start(random >> 20);
        int status = 0;
        hurt += pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
    }
    printf("%lu of %lu hurt\n", hurt, count);
    return 0;
}
