/* SPDX-License-Identifier: MIT */
/*
 * large_frames MILLISECONDS: in a thread, then in main, half of the time below a frame of 600 KiB, which lies between
 * others of 40 KiB.
 */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>

static uint64_t each_ns;

/* Whatever lies in the frame beside the array, the array is there. */
#define TAKE_ROOM(kib)      \
    char room[(kib) << 10]; \
    __asm__ volatile("" : : "r"(room) : "memory")

__attribute__((noinline)) static uint64_t leaf(void)
{
    TAKE_ROOM(40);
    uint64_t value = burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + each_ns);
    __asm__ volatile("" : : "r"(room) : "memory");
    return value;
}

__attribute__((noinline)) static uint64_t largest(void)
{
    TAKE_ROOM(600);
    uint64_t value = leaf();
    __asm__ volatile("" : : "r"(room) : "memory");
    return value;
}

__attribute__((noinline)) static uint64_t root(void)
{
    TAKE_ROOM(40);
    uint64_t value = largest();
    __asm__ volatile("" : : "r"(room) : "memory");
    return value;
}

static void *in_thread(void *argument)
{
    (void)argument;
    return root() ? NULL : &each_ns;
}

int main(int argc, char **argv)
{
    each_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 500000;
    pthread_t thread;
    void *failed;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, &failed) != 0)
        return 1;
    return failed || root() == 0;
}
