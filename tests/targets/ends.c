/* SPDX-License-Identifier: MIT */
/*
 * ends HOW MILLISECONDS: uses the time at its very end.
 *
 *     atexit, destructor, quick-exit    in what the C library calls last
 *     key                               in the destructor of a thread's value
 *     thread                            in a thread, which then ends the process by _exit()
 *     after-main                        the same when the main thread is gone
 *     kill                              and then is killed
 *     crash                             in a handler of SIGSEGV
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t time_ns;
static int has_destructor;

__attribute__((noinline)) static void work_at_the_end(void)
{
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + time_ns);
}

__attribute__((destructor)) static void end(void)
{
    if (has_destructor)
        work_at_the_end();
}

static void destroy(void *value)
{
    (void)value;
    work_at_the_end();
}

static void *set_value(void *unused)
{
    pthread_key_t key;
    pthread_key_create(&key, destroy);
    pthread_setspecific(key, &time_ns);
    return unused;
}

static void *end_process(void *unused)
{
    (void)unused;
    work_at_the_end();
    _exit(5);
}

static void handle(int signal)
{
    (void)signal;
    work_at_the_end();
    _exit(5);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 3)
        return 98;
    const char *how = argv[1];
    time_ns = strtoull(argv[2], NULL, 10) * 1000000;
    has_destructor = strcmp(how, "destructor") == 0;
    if (strcmp(how, "atexit") == 0) {
        atexit(work_at_the_end);
    } else if (strcmp(how, "quick-exit") == 0) {
        at_quick_exit(work_at_the_end);
        quick_exit(5);
    } else if (strcmp(how, "key") == 0) {
        pthread_create(&thread, NULL, set_value, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, end_process, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(how, "after-main") == 0) {
        pthread_create(&thread, NULL, end_process, NULL);
        pthread_exit(NULL);
    } else if (strcmp(how, "kill") == 0) {
        work_at_the_end();
        kill(getpid(), SIGKILL);
    } else if (strcmp(how, "crash") == 0) {
        signal(SIGSEGV, handle);
        raise(SIGSEGV);
    }
    return 5;
}
