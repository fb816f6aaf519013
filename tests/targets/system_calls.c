/* SPDX-License-Identifier: MIT */
/* system_calls MILLISECONDS: nothing but the cheapest system call, for that much CPU time. */
#include "burn.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) static long ask_the_kernel(void)
{
    long sum = 0;
    for (int i = 0; i < 10000; i++)
        sum += syscall(SYS_getppid);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        if (ask_the_kernel() < 0)
            return 1;
    return 0;
}
