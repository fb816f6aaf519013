/* SPDX-License-Identifier: MIT */
/* coroutines MILLISECONDS [set]: eight contexts on stacks of their own take turns by swapcontext(), or by getcontext()
 * and setcontext(). */
#include "burn.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { COUNT = 8, STACK_BYTES = 65536 };

static ucontext_t scheduler, contexts[COUNT];
static unsigned long turns[COUNT];
static bool sets;

static void change(ucontext_t *from, const ucontext_t *to)
{
    volatile bool is_back = false;
    if (!sets) {
        swapcontext(from, to);
        return;
    }
    getcontext(from);
    if (is_back)
        return;
    is_back = true;
    setcontext(to);
}

static void work_of_a_coroutine(int number)
{
    for (;;) {
        burn_rounds((uint64_t)number, 500);
        turns[number]++;
        change(&contexts[number], &scheduler);
    }
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    sets = argc > 2;
    for (int i = 0; i < COUNT; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        makecontext(&contexts[i], (void (*)(void))work_of_a_coroutine, 1, i);
    }
    unsigned long rounds = 0;
    for (; burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns; rounds++)
        for (int i = 0; i < COUNT; i++)
            change(&scheduler, &contexts[i]);
    unsigned long missing = 0;
    for (int i = 0; i < COUNT; i++)
        missing += rounds - turns[i];
    printf("%lu missing\n", missing);
    return 0;
}
