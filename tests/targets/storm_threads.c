/* SPDX-License-Identifier: MIT */
/*
 * storm_threads ROUNDS: threads that return, exit, are cancelled while they wait or while they run, or are
 * detached. Afterwards as many descriptors are open and timers there are as before, and memory of its own has not grown by more than what
 * bookkeeping for a thousand threads at once takes, which is kept for later ones.
 */
#include "storm.h"

#include <dirent.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define KEPT_KIB_MAX 8192

enum { RETURNS, EXITS, IS_CANCELLED_WAITING, IS_CANCELLED_RUNNING, IS_DETACHED, KINDS };

static atomic_ulong cleaned_up, detached_done;
static __thread volatile uint64_t own_value[64];

static void clean_up(void *unused)
{
    (void)unused;
    cleaned_up++;
}

__attribute__((noreturn)) static void run_until_cancelled(void)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (uint64_t value = 1;;)
        value = burn_rounds(value, 100);
}

static void *thread_main(void *argument)
{
    uintptr_t kind = (uintptr_t)argument;
    own_value[kind] = burn_rounds(kind, 5000);
    pthread_cleanup_push(clean_up, NULL);
    if (kind == IS_CANCELLED_WAITING)
        pause();
    if (kind == IS_CANCELLED_RUNNING)
        run_until_cancelled();
    if (kind == EXITS)
        pthread_exit((void *)(kind + 1));
    pthread_cleanup_pop(1);
    if (kind == IS_DETACHED)
        detached_done++;
    return (void *)(kind + 1);
}

static uint64_t run_one(uintptr_t kind)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, thread_main, (void *)kind) != 0)
        return 77;
    if (kind == IS_DETACHED)
        return pthread_detach(thread) == 0 ? kind + 1 : 78;
    if (kind == IS_CANCELLED_RUNNING)
        usleep(100);
    if (kind == IS_CANCELLED_WAITING || kind == IS_CANCELLED_RUNNING)
        pthread_cancel(thread);
    pthread_join(thread, &result);
    if (kind == IS_CANCELLED_WAITING || kind == IS_CANCELLED_RUNNING)
        return result == PTHREAD_CANCELED ? kind + 1 : 79;
    return (uint64_t)(uintptr_t)result;
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    for (unsigned long round = 0; round < storm->rounds; round++) {
        uintptr_t kind = storm_random(storm) % KINDS;
        storm->sum += run_one(kind) != kind + 1;
    }
    return NULL;
}

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static int count_timers(void)
{
    char line[128];
    int count = 0;
    FILE *timers = fopen("/proc/self/timers", "r");
    while (timers && fgets(line, sizeof(line), timers))
        count += strncmp(line, "ID:", 3) == 0;
    if (timers)
        fclose(timers);
    return count;
}

static long anonymous_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = strtol(line + 8, NULL, 10);
    fclose(status);
    return kib;
}

static void wait_for_detached(void)
{
    for (int i = 0; i < 1000 && count_entries("/proc/self/task") > 3; i++)
        usleep(10000);
}

int main(int argc, char **argv)
{
    char *first[] = {argv[0], "50", NULL};
    int result = storm_run(2, first, work); /* stacks and arenas that are kept */
    wait_for_detached();
    unsigned descriptors = count_entries("/proc/self/fd");
    int timers = count_timers();
    long before_kib = anonymous_kib();
    result += storm_run(argc, argv, work);
    wait_for_detached();
    printf("%u threads, %d more descriptors, %d more timers, %s\n",
           count_entries("/proc/self/task") - 2,
           (int)(count_entries("/proc/self/fd") - descriptors), count_timers() - timers,
           anonymous_kib() - before_kib < KEPT_KIB_MAX ? "as much memory" : "more memory");
    return result;
}
