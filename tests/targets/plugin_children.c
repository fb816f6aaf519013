/* SPDX-License-Identifier: MIT */
/* plugin_children A.so B.so: works for 0.1 s; loads each of the two in turn, forks a child that calls it for 0.2 s,
 * calls it itself for 0.1 s and unloads it. The second lies where the first one was. */
#include "burn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void call_in_both(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);
    void (*run)(void) = handle ? (void (*)(void))dlsym(handle, "plugin_run") : NULL;
    int status = -1;
    if (!run)
        exit(1);
    pid_t child = fork();
    for (int i = 0; i < (child ? 5 : 10); i++)
        run();
    if (child == 0)
        _exit(0);
    if (wait(&status) < 0 || status != 0)
        exit(1);
    dlclose(handle);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 98;
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 100000000);
    call_in_both(argv[1]);
    call_in_both(argv[2]);
    return 0;
}
