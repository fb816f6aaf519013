/* SPDX-License-Identifier: MIT */
/* takes_names MILLISECONDS: works for so long; a thread takes a name and sleeps meanwhile, and the program itself takes
 * another one after 10. */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *sleep_on(void *nothing)
{
    prctl(PR_SET_NAME, "sleeper");
    pause();
    return nothing;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "80", NULL, 10) * 1000000;
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_on, NULL);
    uint64_t value = burn_until_ns(10000000);
    prctl(PR_SET_NAME, "changed");
    return value + burn_until_ns(end_ns) == 0;
}
