/* SPDX-License-Identifier: MIT */
/*
 * wait_places SECONDS: four threads that wait at three places, 70, 20 and 10 % of the time, for 0.1 to 4 ms
 * each, with some work between the waits. Prints the name of each place and the measured nanoseconds.
 */
#include "burn.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, PLACES = 3, LEAST_NS = 100000, MOST_NS = 4000000 };

static uint64_t end_ns;
static uint64_t waited_ns[THREADS][PLACES];

__attribute__((noinline)) static void often(const struct timespec *time)
{
    nanosleep(time, NULL);
    __asm__ volatile("");
}

__attribute__((noinline)) static void sometimes(const struct timespec *time)
{
    ppoll(NULL, 0, time, NULL);
    __asm__ volatile("");
}

__attribute__((noinline)) static void seldom(const struct timespec *time)
{
    int word = 0;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, time, NULL, 0);
    __asm__ volatile("");
}

static void (*const places[PLACES])(const struct timespec *) = {often, sometimes, seldom};
static const char *const names[PLACES] = {"often", "sometimes", "seldom"};
static const double shares[PLACES] = {0.7, 0.2, 0.1};

/* The place that is furthest behind its share; at times, any: the order must not repeat. */
static int choose(const uint64_t *waited, unsigned *seed)
{
    double sum = 1;
    int chosen = rand_r(seed) % PLACES;
    if (rand_r(seed) % 4 == 0 && chosen > 0)
        return chosen;
    for (int i = 0; i < PLACES; i++)
        sum += (double)waited[i];
    for (int i = 0; i < PLACES; i++)
        if (shares[i] - (double)waited[i] / sum > shares[chosen] - (double)waited[chosen] / sum)
            chosen = i;
    return chosen;
}

static void *wait_and_work(void *argument)
{
    uint64_t *waited = argument;
    unsigned seed = (unsigned)(waited - waited_ns[0]) + 1;
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        int place = choose(waited, &seed);
        const struct timespec time = {.tv_nsec =
                                          LEAST_NS + (long)(rand_r(&seed) % (MOST_NS - LEAST_NS))};
        uint64_t start_ns = burn_clock_ns(CLOCK_MONOTONIC);
        places[place](&time);
        waited[place] += burn_clock_ns(CLOCK_MONOTONIC) - start_ns;
        for (volatile int i = 0; i < 20000; i++)
            continue;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    end_ns = burn_clock_ns(CLOCK_MONOTONIC) +
             (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * UINT64_C(1000000000);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, wait_and_work, waited_ns[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int place = 0; place < PLACES; place++) {
        uint64_t sum_ns = 0;
        for (int i = 0; i < THREADS; i++)
            sum_ns += waited_ns[i][place];
        printf("%s %llu\n", names[place], (unsigned long long)sum_ns);
    }
    return 0;
}
