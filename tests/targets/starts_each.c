/* SPDX-License-Identifier: MIT */
/* starts_each: starts threads, 32 at a time, until SIGUSR1 comes. Status 1: a start routine ran
 * with the argument of another thread, or not at all. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 32 };

static atomic_int runs[THREADS];
static volatile sig_atomic_t is_over;

static void end(int number)
{
    is_over = number;
}

static void *count(void *argument)
{
    atomic_fetch_add(&runs[(uintptr_t)argument], 1);
    return NULL;
}

int main(void)
{
    signal(SIGUSR1, end);
    while (!is_over) {
        pthread_t threads[THREADS];
        for (uintptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, count, (void *)i) != 0)
                return 2;
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (uintptr_t i = 0; i < THREADS; i++)
            if (atomic_exchange(&runs[i], 0) != 1)
                return 1;
    }
    return 0;
}
