/* SPDX-License-Identifier: MIT */
/*
 * equal_threads N MILLISECONDS [c11]: N threads, named equal-0 …, each with that much CPU time; of C11's kind, if
 * asked for. Status 1: what one of these returned did not arrive.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static uint64_t end_ns;

__attribute__((noinline)) static uint64_t work_of_a_thread(void)
{
    return burn_until_ns(end_ns);
}

static void *thread_start(void *name)
{
    pthread_setname_np(pthread_self(), name);
    return work_of_a_thread() ? NULL : name;
}

enum { MOST = 64 };
static char names[MOST][16];

static int c11_thread_start(void *name)
{
    thread_start(name);
    return -atoi((const char *)name + strlen("equal-"));
}

static int run_of_c11(int count)
{
    thrd_t threads[MOST];
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += thrd_create(&threads[i], c11_thread_start, names[i]) != thrd_success;
    for (int i = 0; i < count; i++) {
        int result = 1;
        thrd_join(threads[i], &result);
        wrong += result != -i;
    }
    return wrong != 0;
}

static void run(int count)
{
    pthread_t threads[MOST];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, thread_start, names[i]);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4;
    end_ns = strtoull(argc > 2 ? argv[2] : "500", NULL, 10) * 1000000;
    if (count > MOST)
        return 2;
    for (int i = 0; i < count; i++)
        snprintf(names[i], sizeof(names[i]), "equal-%d", i);
    if (argc > 3)
        return run_of_c11(count);
    run(count);
    return 0;
}
