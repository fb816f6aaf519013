/* SPDX-License-Identifier: MIT */
/*
 * wait_places SECONDS: four threads that wait at three places, 70, 20 and 10 % of the time, for 0.1 to 4 ms
 * each, with some work between the waits. Prints the name of each place and nanoseconds: waited, and the parts of the
 * calls that were no wait: on a processor, and runnable without a processor.
 */
#include "burn.h"

#include <fcntl.h>
#include <inttypes.h>
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

/* Of the calls, in nanoseconds: the clock's time, and the parts of it in the scheduler's account. */
struct spent {
    uint64_t clock, cpu, runnable;
};

static uint64_t end_ns;
static struct spent sums[THREADS][PLACES];

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

static uint64_t waited_ns(const struct spent *spent)
{
    uint64_t other = spent->cpu + spent->runnable;
    return spent->clock > other ? spent->clock - other : 0;
}

static void (*const places[PLACES])(const struct timespec *) = {often, sometimes, seldom};
static const char *const names[PLACES] = {"often", "sometimes", "seldom"};
static const double shares[PLACES] = {0.7, 0.2, 0.1};

/* The place that is furthest behind its share; at times, any: the order must not repeat. */
static int choose(const struct spent *spent, unsigned *seed)
{
    double sum = 1, waited[PLACES];
    int chosen = rand_r(seed) % PLACES;
    if (rand_r(seed) % 4 == 0 && chosen > 0)
        return chosen;
    for (int i = 0; i < PLACES; i++)
        sum += waited[i] = (double)waited_ns(&spent[i]);
    for (int i = 0; i < PLACES; i++)
        if (shares[i] - waited[i] / sum > shares[chosen] - waited[chosen] / sum)
            chosen = i;
    return chosen;
}

/* schedstat (proc(5)): CPU time, time without a processor, turns. */
static uint64_t runnable_ns(int schedstat)
{
    char text[128] = "";
    uint64_t runnable = 0;
    if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
        sscanf(text, "%*u %" SCNu64, &runnable) != 1)
        exit(1);
    return runnable;
}

static struct spent spent_now(int schedstat)
{
    struct spent now = {.runnable = runnable_ns(schedstat)};
    now.cpu = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    now.clock = burn_clock_ns(CLOCK_MONOTONIC);
    return now;
}

static void add(struct spent *sum, const struct spent *start, int schedstat)
{
    uint64_t end_clock = burn_clock_ns(CLOCK_MONOTONIC);
    sum->cpu += burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start->cpu;
    sum->runnable += runnable_ns(schedstat) - start->runnable;
    sum->clock += end_clock - start->clock;
}

static void *wait_and_work(void *argument)
{
    struct spent *spent = argument;
    unsigned seed = (unsigned)(spent - sums[0]) + 1;
    int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        int place = choose(spent, &seed);
        const struct timespec time = {.tv_nsec =
                                          LEAST_NS + (long)(rand_r(&seed) % (MOST_NS - LEAST_NS))};
        struct spent start = spent_now(schedstat);
        places[place](&time);
        add(&spent[place], &start, schedstat);
        for (volatile int i = 0; i < 20000; i++)
            continue;
    }
    close(schedstat);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    end_ns = burn_clock_ns(CLOCK_MONOTONIC) +
             (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * UINT64_C(1000000000);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, wait_and_work, sums[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int place = 0; place < PLACES; place++) {
        struct spent sum = {0};
        for (int i = 0; i < THREADS; i++) {
            sum.clock += sums[i][place].clock;
            sum.cpu += sums[i][place].cpu;
            sum.runnable += sums[i][place].runnable;
        }
        printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", names[place], waited_ns(&sum), sum.cpu,
               sum.runnable);
    }
    return 0;
}
