/* SPDX-License-Identifier: MIT */
/* alternate_stack MILLISECONDS: a timer interrupts a function with a frame pointer; the handler uses
 * the time, on an alternate stack. */
#include "burn.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

static uint64_t end_ns;
static volatile sig_atomic_t is_over;

static void work_on_alternate_stack(int signal)
{
    (void)signal;
    burn_until_ns(end_ns);
    is_over = 1;
}

/* The array of variable size takes SP away from the frame. */
__attribute__((noinline)) static int wait_with_frame_pointer(size_t bytes)
{
    volatile char room[bytes];
    room[0] = 0;
    while (!is_over)
        room[0]++;
    return room[0];
}

int main(int argc, char **argv)
{
    static char stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = work_on_alternate_stack, .sa_flags = SA_ONSTACK};
    const struct itimerval soon = {.it_value.tv_usec = 10000};
    end_ns = strtoull(argc > 1 ? argv[1] : "300", NULL, 10) * 1000000;
    if (sigaltstack(&alternate, NULL) != 0 || sigaction(SIGALRM, &action, NULL) != 0 ||
        setitimer(ITIMER_REAL, &soon, NULL) != 0)
        return 1;
    return wait_with_frame_pointer((size_t)argc + 63) == 1000;
}
