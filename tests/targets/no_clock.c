/* SPDX-License-Identifier: MIT */
/* no_clock strict|fault MILLISECONDS: gives up the time stamp counter, by strict seccomp or by name, and works on;
 * in the second case also in a thread, a forked child and an executed program. */
#include "burn.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t rounds;

static void *work(void *unused)
{
    return burn_rounds(1, rounds) ? unused : NULL;
}

static void work_in_relatives(char *program)
{
    pthread_t thread;
    char number[32];
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)rounds);
    if (fork() == 0) {
        work(NULL);
        execl(program, program, "child", number, NULL);
    }
    int status = -1;
    wait(&status);
    printf("%d\n", status);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "strict";
    rounds = strtoull(argc > 2 ? argv[2] : "10", NULL, 10);
    if (strcmp(how, "child") != 0)
        rounds = burn_rounds_of(rounds);
    if (strcmp(how, "strict") == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else if (strcmp(how, "fault") == 0)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    work(NULL);
    if (strcmp(how, "fault") == 0)
        work_in_relatives(argv[0]);
    else if (write(STDOUT_FILENO, "done\n", 5) != 5)
        return 1;
    fflush(stdout);
    syscall(SYS_exit, 3);
}
