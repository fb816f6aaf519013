/* SPDX-License-Identifier: MIT */
/* orphan: works until its parent has died, and waits for three seconds; starts a thread; says how many
 * timers it had before that, and after. */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned count_timers(void)
{
    unsigned count = 0;
    char line[128];
    FILE *timers = fopen("/proc/self/timers", "r");
    while (timers && fgets(line, sizeof(line), timers))
        count += strncmp(line, "ID:", 3) == 0;
    if (timers)
        fclose(timers);
    return count;
}

static void *do_nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    pid_t parent = getppid();
    puts("started");
    fflush(stdout);
    while (getppid() == parent)
        burn_rounds(1, 100000);
    sleep(3);
    unsigned before = count_timers();
    pthread_create(&thread, NULL, do_nothing, NULL);
    pthread_join(thread, NULL);
    printf("%u, then %u\n", before, count_timers());
    return 0;
}
