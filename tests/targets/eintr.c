/* SPDX-License-Identifier: MIT */
/* eintr MILLISECONDS: short sleeps of every kind between bursts of work; counts those that a signal cut
 * short. */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static unsigned interrupted;

static void note(long result)
{
    interrupted += result < 0 && errno == EINTR;
}

int main(int argc, char **argv)
{
    uint64_t end_ns =
        burn_clock_ns(CLOCK_MONOTONIC) + strtoull(argc > 1 ? argv[1] : "1000", NULL, 10) * 1000000;
    struct timespec pause = {.tv_nsec = 200000};
    int events = epoll_create1(0);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    for (unsigned turn = 0; burn_clock_ns(CLOCK_MONOTONIC) < end_ns; turn++) {
        struct epoll_event event;
        struct timeval once = {.tv_usec = 200};
        struct timespec until;
        burn_rounds(1, 100000);
        note(nanosleep(&pause, NULL));
        note(poll(NULL, 0, 1));
        note(epoll_wait(events, &event, 1, 1));
        note(select(0, NULL, NULL, NULL, &once));
        clock_gettime(CLOCK_REALTIME, &until);
        note(sem_timedwait(&semaphore, &until));
    }
    printf("%u interrupted\n", interrupted);
    return 0;
}
