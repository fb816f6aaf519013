/* SPDX-License-Identifier: MIT */
/*
 * Threads of every fate, in this order; each name and number is checked by the tests.
 *
 *     joined    3 threads: pthread_join, tryjoin, timedjoin
 *     clocked   1 thread: pthread_clockjoin_np
 *     c11       1 thread: thrd_create, thrd_join; 1: thrd_detach
 *     detached  2 threads: pthread_detach; created as detached
 *     zombie    4 threads: ended, never joined
 *     waiting   1 thread: alive at the end
 *     renamed   1 thread, joined: named "first", "second" by itself, "third" by its creator
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static sem_t step, done;

static void *short_life(void *argument)
{
    prctl(PR_SET_NAME, argument);
    return NULL;
}

static int c11_life(void *argument)
{
    prctl(PR_SET_NAME, argument);
    return 0;
}

static void *wait_for_ever(void *argument)
{
    prctl(PR_SET_NAME, argument);
    sem_post(&done);
    pause();
    return NULL;
}

static void *renamed_life(void *argument)
{
    (void)argument;
    prctl(PR_SET_NAME, "first");
    pthread_setname_np(pthread_self(), "second");
    sem_post(&done);
    sem_wait(&step);
    return NULL;
}

__attribute__((noinline)) static pthread_t spawn(void *(*life)(void *), const char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, life, (void *)name) != 0)
        _exit(1);
    return thread;
}

__attribute__((noinline)) static void leak_threads(void)
{
    for (int i = 0; i < 4; i++)
        spawn(short_life, "zombie");
}

static void join_threads(void)
{
    struct timespec soon;
    pthread_t joined = spawn(short_life, "joined"), tried = spawn(short_life, "joined");
    pthread_t timed = spawn(short_life, "joined"), clocked = spawn(short_life, "clocked");
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 60;
    pthread_join(joined, NULL);
    while (pthread_tryjoin_np(tried, NULL) != 0)
        usleep(1000);
    pthread_timedjoin_np(timed, NULL, &soon);
    pthread_clockjoin_np(clocked, NULL, CLOCK_REALTIME, &soon);
}

static void use_c11_threads(void)
{
    thrd_t joined, detached;
    thrd_create(&joined, c11_life, "c11");
    thrd_create(&detached, c11_life, "c11");
    thrd_join(joined, NULL);
    thrd_detach(detached);
}

static void detach_threads(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_detach(spawn(short_life, "detached"));
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, short_life, "detached");
    pthread_attr_destroy(&attributes);
}

static void rename_thread(void)
{
    pthread_t thread = spawn(renamed_life, NULL);
    sem_wait(&done);
    pthread_setname_np(thread, "third");
    sem_post(&step);
    pthread_join(thread, NULL);
}

int main(void)
{
    sem_init(&step, 0, 0);
    sem_init(&done, 0, 0);
    join_threads();
    use_c11_threads();
    detach_threads();
    leak_threads();
    rename_thread();
    spawn(wait_for_ever, "waiting");
    sem_wait(&done);
    usleep(100000);
    return 0;
}
