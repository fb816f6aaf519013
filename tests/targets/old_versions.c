/* SPDX-License-Identifier: MIT */
/*
 * old_versions: calls functions by the version names that a binary of 2011 has in it, in the C libraries of
 * today: threads lived in a library of their own.
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5");
__asm__(".symver posix_spawn, posix_spawn@GLIBC_2.2.5");
__asm__(".symver posix_spawnp, posix_spawnp@GLIBC_2.2.5");

__attribute__((noinline)) static void *work_of_a_thread(void *unused)
{
    sigset_t all, seen;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn_until_ns(200000000);
    pthread_sigmask(SIG_SETMASK, NULL, &seen);
    printf("%d %d\n", sigismember(&seen, SIGTRAP), sigismember(&seen, SIGPROF));
    return unused;
}

static void run_program(void)
{
    char *words[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                     (char *)(uintptr_t) "exit 3", NULL};
    for (int i = 0; i < 2; i++) {
        pid_t pid = -1;
        int status = 0;
        fflush(stdout);
        int err = i ? posix_spawnp(&pid, "sh", NULL, NULL, words, environ)
                    : posix_spawn(&pid, "/bin/sh", NULL, NULL, words, environ);
        if (err == 0)
            waitpid(pid, &status, 0);
        printf("%d, status %d\n", err, WEXITSTATUS(status));
    }
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 32768);
    pthread_create(&thread, &attributes, work_of_a_thread, NULL);
    pthread_join(thread, NULL);
    run_program();
    return 0;
}
