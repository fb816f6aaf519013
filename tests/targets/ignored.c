/* SPDX-License-Identifier: MIT */
/*
 * ignored HOW MILLISECONDS: the main thread is busy and gets signals that do nothing; says how often another thread's
 * epoll_wait() ended because of them. Which signals, and who sends them:
 *
 *     default   SIGURG, another thread
 *     child     SIGCHLD, children that end, one at a time
 *     changing  SIGUSR1, another thread; now ignored, now with a handler that leaves by siglongjmp()
 */
#include "burn.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t end_ns;
static pthread_t main_thread;
static unsigned long interrupted;
static sigjmp_buf place;
/* The C library blocks all signals while it makes a thread. */
static pthread_barrier_t has_begun;

static bool is_over(void)
{
    return burn_clock_ns(CLOCK_MONOTONIC) >= end_ns;
}

/* The kernel goes on with other waits by itself when nothing came of the signal. */
static void *wait_often(void *unused)
{
    struct epoll_event event;
    int events = epoll_create1(0);
    pthread_barrier_wait(&has_begun);
    while (!is_over())
        interrupted += epoll_wait(events, &event, 1, 1) != 0;
    return unused;
}

static void *send_often(void *signal)
{
    pthread_barrier_wait(&has_begun);
    while (!is_over()) {
        burn_rounds(1, 20000);
        kill(getpid(), *(int *)signal);
    }
    return NULL;
}

static void *send_to_main_often(void *signal)
{
    pthread_barrier_wait(&has_begun);
    while (!is_over()) {
        burn_rounds(1, 20000);
        pthread_kill(main_thread, *(int *)signal);
    }
    return NULL;
}

static void leave(int signal)
{
    (void)signal;
    siglongjmp(place, 1);
}

static void have_a_child(void)
{
    if (fork() == 0) {
        usleep(100);
        _exit(0);
    }
    do
        burn_rounds(1, 10000);
    while (waitpid(-1, NULL, WNOHANG) == 0);
}

static void change(int signal_number)
{
    if (sigsetjmp(place, 1) == 0) {
        signal(signal_number, leave);
        burn_rounds(1, 300000);
    }
    signal(signal_number, SIG_IGN);
    burn_rounds(1, 30000);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "default";
    bool is_changing = strcmp(how, "changing") == 0, has_children = strcmp(how, "child") == 0;
    int number = strcmp(how, "default") == 0 ? SIGURG : SIGUSR1;
    pthread_t waits, sends;
    end_ns =
        burn_clock_ns(CLOCK_MONOTONIC) + strtoull(argc > 2 ? argv[2] : "1000", NULL, 10) * 1000000;
    main_thread = pthread_self();
    if (number == SIGUSR1)
        signal(SIGUSR1, SIG_IGN);
    pthread_barrier_init(&has_begun, NULL, has_children ? 2 : 3);
    pthread_create(&waits, NULL, wait_often, NULL);
    if (!has_children)
        pthread_create(&sends, NULL, is_changing ? send_to_main_often : send_often, &number);
    pthread_barrier_wait(&has_begun);
    while (!is_over())
        if (has_children)
            have_a_child();
        else if (is_changing)
            change(number);
        else
            burn_rounds(1, 100000);
    pthread_join(waits, NULL);
    if (!has_children)
        pthread_join(sends, NULL);
    printf("%lu interrupted\n", interrupted);
    return 0;
}
