/* SPDX-License-Identifier: MIT */
/*
 * rewrites_stack: writes its turn into every word of 16 KiB of stack, waits for 1 to 30 us, and so on. Prints the
 * address of the words first.
 */
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 2048 };

__attribute__((noinline)) static void take_turn(uint64_t turn, long wait_ns)
{
    volatile uint64_t words[WORDS];
    static uint32_t never;
    const struct timespec time = {.tv_nsec = wait_ns};
    for (int i = 0; i < WORDS; i++)
        words[i] = turn;
    if (turn == 0) {
        printf("%p\n", (void *)(uintptr_t)words);
        fflush(stdout);
    }
    syscall(SYS_futex, &never, FUTEX_WAIT, 0, &time);
}

int main(void)
{
    unsigned seed = 1;
    prctl(PR_SET_TIMERSLACK, 1);
    for (uint64_t turn = 0;; turn++)
        take_turn(turn, (1 + rand_r(&seed) % 30) * 1000L);
}
