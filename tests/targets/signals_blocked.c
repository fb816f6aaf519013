/* SPDX-License-Identifier: MIT */
/* signals_blocked MILLISECONDS: two threads that work with every signal blocked, as those of liblzma and
 * many other libraries do: one was created so, one does it itself. Says what masks they see. */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t end_ns;

static int count_blocked(void)
{
    sigset_t set;
    int count = 0;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    for (int number = 1; number < SIGRTMIN; number++)
        count += sigismember(&set, number) == 1;
    return count;
}

__attribute__((noinline)) static void *created_with_signals_blocked(void *seen)
{
    burn_until_ns(end_ns);
    *(int *)seen = count_blocked();
    return NULL;
}

__attribute__((noinline)) static void *blocks_signals_itself(void *seen)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn_until_ns(end_ns);
    *(int *)seen = count_blocked();
    return NULL;
}

int main(int argc, char **argv)
{
    sigset_t all, old;
    pthread_t first, second;
    int seen[2];
    end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    sigfillset(&all);
    pthread_create(&second, NULL, blocks_signals_itself, &seen[1]);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&first, NULL, created_with_signals_blocked, &seen[0]);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%d %d %d\n", seen[0], seen[1], count_blocked());
    return 0;
}
