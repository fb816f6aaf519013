/* SPDX-License-Identifier: MIT */
/*
 * reads_signals HOW: sends itself SIGPROF and SIGTRAP 100 times, reads both from a signalfd, and counts what it
 * has read.
 *
 *     poll       blocks the signals, creates the descriptor, waits with poll()
 *     early      creates the descriptor before it blocks the signals
 *     select     waits with select()
 *     nonblock   does not wait: reads with SFD_NONBLOCK
 *     thread     a second thread creates the descriptor and reads
 *     changed    creates the descriptor for SIGUSR1, then changes its mask
 *     bare       creates the descriptor with syscall(SYS_signalfd4)
 *     bare-old   creates the descriptor with syscall(SYS_signalfd)
 *     fork       a forked child reads from the inherited descriptor
 */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 100 };

static int fd;
static const char *how;
static sigset_t both;
static int traps, profs, others;
static int seen; /* atomic: all of them */

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void count(uint32_t number, int32_t code)
{
    traps += number == SIGTRAP && code == SI_USER;
    profs += number == SIGPROF && code == SI_USER;
    others += code != SI_USER;
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELEASE);
}

static void create(void)
{
    sigset_t other;
    sigemptyset(&other);
    sigaddset(&other, SIGUSR1);
    if (is("bare"))
        fd = (int)syscall(SYS_signalfd4, -1, &both, sizeof(uint64_t), 0);
    else if (is("bare-old"))
        fd = (int)syscall(SYS_signalfd, -1, &both, sizeof(uint64_t));
    else
        fd = signalfd(-1, is("changed") ? &other : &both, is("nonblock") ? SFD_NONBLOCK : 0);
    if (is("changed"))
        fd = signalfd(fd, &both, 0);
    if (fd < 0)
        fail("signalfd");
}

static void wait_for_one(void)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(fd, &readable);
    int ready = is("select") ? select(fd + 1, &readable, NULL, NULL, NULL) : poll(&poller, 1, -1);
    if (ready < 0 && errno != EINTR)
        fail("waiting");
}

static void read_one(void)
{
    struct signalfd_siginfo info;
    if (!is("nonblock"))
        wait_for_one();
    while (read(fd, &info, sizeof(info)) != sizeof(info))
        if (errno != EINTR && errno != EAGAIN)
            fail("reading");
    count(info.ssi_signo, info.ssi_code);
}

/* From 2 to 8 ms. */
static void burn_a_while(int i)
{
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(2 + i % 7) * 1000000);
}

static void send(int i)
{
    kill(getpid(), SIGPROF);
    kill(getpid(), SIGTRAP);
    burn_a_while(i);
}

static int run(void)
{
    for (int i = 0; i < TIMES; i++) {
        send(i);
        for (int j = 0; j < 2; j++)
            read_one();
    }
    printf("trap %d prof %d\n", traps, profs);
    if (others)
        printf("%d were not sent by kill()\n", others);
    return 0;
}

static void *read_all(void *unused)
{
    create();
    __atomic_store_n(&seen, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < 2 * TIMES; i++)
        read_one();
    return unused;
}

static int run_with_a_thread(void)
{
    pthread_t reader;
    seen = -1; /* until there is a descriptor */
    if (pthread_create(&reader, NULL, read_all, NULL) != 0)
        fail("pthread_create");
    for (int i = 0; i < TIMES; i++) {
        while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) != 2 * i)
            usleep(100);
        send(i);
    }
    pthread_join(reader, NULL);
    printf("trap %d prof %d\n", traps, profs);
    return others != 0;
}

static int run_in_a_child(void)
{
    int status = 0;
    fflush(stdout);
    if (fork() == 0)
        return run();
    wait(&status);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "poll";
    sigemptyset(&both);
    sigaddset(&both, SIGTRAP);
    sigaddset(&both, SIGPROF);
    if (is("early"))
        create();
    sigprocmask(SIG_BLOCK, &both, NULL);
    if (is("thread"))
        return run_with_a_thread();
    if (!is("early"))
        create();
    return is("fork") ? run_in_a_child() : run();
}
