/* SPDX-License-Identifier: MIT */
/* storm_contexts ROUNDS: sixteen contexts in each thread take turns by swapcontext, are abandoned in the
 * middle and made again on the same stacks. */
#include "storm.h"

#include <ucontext.h>

enum { CONTEXTS = 16, STACK_BYTES = 32768, TURNS = 50 };

static __thread struct turn {
    ucontext_t scheduler, contexts[CONTEXTS];
    uint64_t sum;
} * own;

__attribute__((noinline)) static uint64_t go_down(int depth, int number)
{
    if (depth == 0) {
        swapcontext(&own->contexts[number], &own->scheduler);
        return burn_rounds((uint64_t)number, 50);
    }
    return go_down(depth - 1, number) + 1;
}

static void context_main(int number)
{
    for (int turn = 0;; turn++)
        own->sum += go_down(turn % 10, number);
}

static void make_contexts(char (*stacks)[STACK_BYTES])
{
    for (int i = 0; i < CONTEXTS; i++) {
        getcontext(&own->contexts[i]);
        own->contexts[i].uc_stack.ss_sp = stacks[i];
        own->contexts[i].uc_stack.ss_size = STACK_BYTES;
        makecontext(&own->contexts[i], (void (*)(void))context_main, 1, i);
    }
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    char(*stacks)[STACK_BYTES] = malloc(CONTEXTS * sizeof(*stacks));
    own = calloc(1, sizeof(*own));
    for (unsigned long round = 0; round < storm->rounds; round++) {
        make_contexts(stacks);
        for (int turn = 0; turn < TURNS; turn++)
            swapcontext(&own->scheduler, &own->contexts[storm_random(storm) % CONTEXTS]);
        storm->sum = storm->sum * 31 + own->sum;
    }
    free(own);
    free(stacks);
    return NULL;
}

int main(int argc, char **argv)
{
    return storm_run(argc, argv, work);
}
