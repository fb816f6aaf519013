/* SPDX-License-Identifier: MIT */
/* Calls that block for a number of seconds, each in a thread of its own. */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct blocked_call {
    const char *name;
    long (*make)(void); /* 0: the call ended as it should */
    pthread_t thread;
    long result;
    int error;
    double lasted_s;
};

static int blocked_seconds;
static sem_t blocked_started; /* by each thread, once its time runs */

static inline double blocked_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline struct timespec blocked_time(void)
{
    return (struct timespec){.tv_sec = blocked_seconds};
}

static inline struct timespec blocked_until(clockid_t clock)
{
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_sec += blocked_seconds;
    return until;
}

/* A call that fails with this error when its time is over. */
static inline long blocked_expect(long result, int error)
{
    return result == -1 && errno == error ? 0 : result ? result : -2;
}

static inline void *blocked_sleep(void *unused)
{
    struct timespec time = blocked_time();
    while (nanosleep(&time, &time) != 0)
        continue;
    return unused;
}

static inline pid_t blocked_child(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    blocked_sleep(NULL);
    _exit(0);
}

/* Frames of a size that only the CFI, or a frame pointer, knows. */
__attribute__((noinline)) static long blocked_inner(long (*make)(void))
{
    volatile char room[100];
    room[0] = 1;
    long result = make();
    __asm__ volatile("" ::"r"(room));
    return result;
}

__attribute__((noinline)) static long blocked_outer(long (*make)(void))
{
    volatile char room[200];
    room[0] = 1;
    long result = blocked_inner(make);
    __asm__ volatile("" ::"r"(room));
    return result;
}

static inline void *blocked_run(void *argument)
{
    struct blocked_call *call = argument;
    double start_s = blocked_now();
    sem_post(&blocked_started);
    prctl(PR_SET_NAME, call->name);
    errno = 0;
    call->result = blocked_outer(call->make);
    call->error = errno;
    call->lasted_s = blocked_now() - start_s;
    prctl(PR_SET_NAME, "done");
    return NULL;
}

/* The time of the calls runs before the caller's: a busy machine may start threads late. */
static inline bool blocked_start(struct blocked_call *calls, size_t count)
{
    sem_init(&blocked_started, 0, 0);
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&calls[i].thread, NULL, blocked_run, &calls[i]) != 0)
            return false;
    for (size_t i = 0; i < count; i++)
        while (sem_wait(&blocked_started) != 0)
            continue;
    printf("ready\n");
    fflush(stdout);
    return true;
}

/* Joins the threads. */
static inline void blocked_print(struct blocked_call *calls, size_t count)
{
    size_t different = 0;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 30 + blocked_seconds / 8; /* a busy machine; the kernel's timer wheel */
    for (size_t i = 0; i < count; i++) {
        struct blocked_call *call = &calls[i];
        bool hangs = pthread_timedjoin_np(call->thread, NULL, &limit) != 0;
        bool is_early = call->lasted_s < blocked_seconds - 0.02;
        if (!hangs && !is_early && call->result == 0)
            continue;
        different++;
        printf("%s: %s, result %ld, %s, after %.3f s\n", call->name, hangs ? "hangs" : "ended",
               call->result, strerror(call->error), call->lasted_s);
    }
    printf("%zu of %zu differ\n", different, count);
}
