/* SPDX-License-Identifier: MIT */
/* deadlock: two threads, each of which waits for the mutex of the other. */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;

static void *take_second(void *unused)
{
    prctl(PR_SET_NAME, "has_first");
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&second);
    return unused;
}

static void *take_first(void *unused)
{
    prctl(PR_SET_NAME, "has_second");
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&first);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&both_hold, NULL, 2);
    pthread_create(&threads[0], NULL, take_second, NULL);
    pthread_create(&threads[1], NULL, take_first, NULL);
    printf("ready\n");
    fflush(stdout);
    pthread_join(threads[0], NULL);
    return pthread_join(threads[1], NULL);
}
