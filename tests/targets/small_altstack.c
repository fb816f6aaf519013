/* SPDX-License-Identifier: MIT */
/* small_altstack BYTES MILLISECONDS: its handler runs on an alternate stack of that size, on which it
 * uses the time. 0: the smallest that this machine's kernel accepts for a signal of the program's own. */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static volatile sig_atomic_t handled;
static uint64_t end_ns;

static void work_on_alternate_stack(int signal)
{
    (void)signal;
    burn_rounds(1, 20000);
    handled++;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (bytes == 0)
        bytes = getauxval(AT_MINSIGSTKSZ) + 512;
    end_ns = strtoull(argc > 2 ? argv[2] : "300", NULL, 10) * 1000000;
    stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
    struct sigaction action = {.sa_handler = work_on_alternate_stack, .sa_flags = SA_ONSTACK};
    if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 2;
    int sent = 0;
    for (; burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns; sent++)
        raise(SIGUSR1);
    printf("%d missing\n", sent - handled);
    return 0;
}
