/* SPDX-License-Identifier: MIT */
/* storm_jumps ROUNDS: longjmp out of nested calls, siglongjmp out of handlers of the program's own signals
 * and of faults, also from alternate stacks. The mask is the same afterwards. */
#include "storm.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

enum { BY_CALL, BY_SIGNAL, BY_TRAP, BY_PROFILE, BY_FAULT, KINDS, STACK_BYTES = 65536 };

static __thread sigjmp_buf place;
static __thread volatile uint64_t worked;

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static int go_down(int depth)
{
    if (depth == 0)
        longjmp(place, 7);
    int result = go_down(depth - 1);
    __asm__ volatile("" : "+r"(result));
    return result;
}

static void leave_handler(int number)
{
    worked = burn_rounds((uint64_t)number, 100);
    siglongjmp(place, 7);
}

static void leave_by(uint64_t kind, uint64_t random)
{
    static int *volatile nowhere;
    switch (kind) {
    case BY_SIGNAL:
        pthread_kill(pthread_self(), SIGUSR1);
        break;
    case BY_TRAP:
        __asm__ volatile("int3");
        break;
    case BY_PROFILE:
        raise(SIGPROF);
        break;
    case BY_FAULT:
        *nowhere = 1;
        break;
    default:
        go_down((int)((random >> 8) % 20));
    }
}

static void handle(int number, int flags)
{
    struct sigaction action = {.sa_handler = leave_handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES},
            none = {.ss_flags = SS_DISABLE};
    sigset_t before, after;
    sigaltstack(&stack, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    for (volatile unsigned long round = 0; round < storm->rounds; round++) {
        uint64_t random = storm_random(storm);
        int result = sigsetjmp(place, 1);
        if (result == 0)
            leave_by(random % KINDS, random);
        storm->sum += result == 7;
    }
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < SIGRTMIN; number++)
        storm->sum += sigismember(&before, number) != sigismember(&after, number) ? 1000000 : 0;
    sigaltstack(&none, NULL);
    free(stack.ss_sp);
    return NULL;
}

int main(int argc, char **argv)
{
    handle(SIGUSR1, 0);
    handle(SIGTRAP, 0);
    handle(SIGPROF, SA_RESTART);
    handle(SIGSEGV, SA_ONSTACK);
    return storm_run(argc, argv, work);
}
