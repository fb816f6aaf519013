/* SPDX-License-Identifier: MIT */
/*
 * ignored_at_exec HOW NUMBER TIMES: children ignore a signal and execute this program again, while another thread of
 * theirs does something else. Says how many found the signal not ignored then.
 *
 *     change    it sets what SIGUSR1 does
 *     execute   it executes a program that is not there
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEAD_START_US = 300 };

static void do_nothing(int number)
{
    (void)number;
}

static void *change(void *nothing)
{
    for (;;) {
        signal(SIGUSR1, SIG_IGN);
        signal(SIGUSR1, do_nothing);
    }
    return nothing;
}

static void *execute(void *nothing)
{
    for (;;)
        execl("/nonexistent", "nonexistent", NULL);
    return nothing;
}

static void ignore_and_execute(const char *how, const char *number)
{
    pthread_t other;
    signal(atoi(number), SIG_IGN);
    pthread_create(&other, NULL, strcmp(how, "change") == 0 ? change : execute, NULL);
    usleep(HEAD_START_US);
    execl("/proc/self/exe", "ignored_at_exec", number, NULL);
    _exit(127);
}

int main(int count, char **words)
{
    struct sigaction found;
    if (count == 2) {
        sigaction(atoi(words[1]), NULL, &found);
        return found.sa_handler != SIG_IGN;
    }
    int others = 0, status;
    for (int left = atoi(words[3]); left > 0; left--) {
        pid_t child = fork();
        if (child == 0)
            ignore_and_execute(words[1], words[2]);
        waitpid(child, &status, 0);
        others += status != 0;
    }
    printf("%d not ignored\n", others);
    return 0;
}
