/* SPDX-License-Identifier: MIT */
/*
 * overflow HOW: grows the stack to nearly its limit and back, slowly enough to be sampled there, says so, and then
 * recurses without end.
 *
 *     main, thread    on that stack, down into the guard page
 *     small           the same on one of 64 KiB, of a thread
 *     handler         the same as main, with a handler on an alternate stack that ends the program
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_BYTES 16384
#define SMALL_BYTES 65536

static long steps_that_fit = 400;

static void handle(int number)
{
    (void)!write(STDOUT_FILENO, "handled\n", 8);
    _exit(number);
}

__attribute__((noinline)) static uint64_t descend(long steps)
{
    volatile char frame[STEP_BYTES];
    memset((char *)frame, 1, sizeof(frame));
    if (steps == 0)
        return burn_until_ns(400000000);
    return descend(steps - 1) + (uint64_t)frame[0];
}

static void *overflow(void *argument)
{
    (void)argument;
    printf("%d\n", descend(steps_that_fit) != 0);
    fflush(stdout);
    printf("%d\n", descend(-1) != 0);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "main";
    if (strcmp(how, "handler") == 0) {
        stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
        struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
        sigaltstack(&other, NULL);
        sigaction(SIGSEGV, &action, NULL);
    }
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (strcmp(how, "small") == 0) {
        pthread_attr_setstacksize(&attributes, SMALL_BYTES);
        steps_that_fit = 1;
    }
    if (strcmp(how, "main") == 0 || strcmp(how, "handler") == 0)
        overflow(NULL);
    else if (pthread_create(&thread, &attributes, overflow, NULL) == 0)
        pthread_join(thread, NULL);
    return 0;
}
