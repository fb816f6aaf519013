/* SPDX-License-Identifier: MIT */
/* jumps MILLISECONDS: leaves ten frames by longjmp, and handlers by siglongjmp, again and again. */
#include "burn.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;
static sigjmp_buf place_with_mask;

__attribute__((noinline, noreturn)) static void leave(void)
{
    burn_rounds(1, 200);
    longjmp(place, 7);
}

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static int go_down(int depth)
{
    if (depth == 0)
        leave();
    int result = go_down(depth - 1);
    __asm__ volatile("" : "+r"(result));
    return result;
}

__attribute__((noreturn)) static void leave_handler(int signal)
{
    (void)signal;
    burn_rounds(1, 200);
    siglongjmp(place_with_mask, 9);
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    int wrong = 0, result;
    signal(SIGUSR1, leave_handler);
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
        result = setjmp(place);
        if (result == 0)
            go_down(10);
        wrong += result != 7;
        result = sigsetjmp(place_with_mask, 1);
        if (result == 0)
            raise(SIGUSR1);
        wrong += result != 9;
    }
    printf("%d wrong\n", wrong);
    return 0;
}
