/* SPDX-License-Identifier: MIT */
/* coroutines MILLISECONDS: eight contexts on stacks of their own take turns by swapcontext. */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { COUNT = 8, STACK_BYTES = 65536 };

static ucontext_t scheduler, contexts[COUNT];
static unsigned long turns[COUNT];

static void work_of_a_coroutine(int number)
{
    for (;;) {
        burn_rounds((uint64_t)number, 500);
        turns[number]++;
        swapcontext(&contexts[number], &scheduler);
    }
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    for (int i = 0; i < COUNT; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        makecontext(&contexts[i], (void (*)(void))work_of_a_coroutine, 1, i);
    }
    unsigned long rounds = 0;
    for (; burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns; rounds++)
        for (int i = 0; i < COUNT; i++)
            swapcontext(&scheduler, &contexts[i]);
    unsigned long missing = 0;
    for (int i = 0; i < COUNT; i++)
        missing += rounds - turns[i];
    printf("%lu missing\n", missing);
    return 0;
}
