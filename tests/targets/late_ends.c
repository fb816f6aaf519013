/* SPDX-License-Identifier: MIT */
/* late_ends FAILURES: so many threads cannot be created; then one does all of its work in the destructor of its own
 * data. */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TOO_MUCH ((size_t)1 << 46)

static pthread_key_t key;

__attribute__((noinline)) static void work_at_the_end(void *value)
{
    *(uint64_t *)value = burn_until_ns(300000000);
}

static void *end_at_once(void *value)
{
    pthread_setspecific(key, value);
    return NULL;
}

static int create_too_large(int count)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int failed = 0;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, TOO_MUCH) != 0)
        return -1;
    for (int i = 0; i < count; i++)
        failed += pthread_create(&thread, &attributes, end_at_once, NULL) != 0;
    return failed;
}

int main(int argc, char **argv)
{
    uint64_t value = 0;
    pthread_t thread;
    printf("%d failed\n", create_too_large(argc > 1 ? atoi(argv[1]) : 2000));
    pthread_key_create(&key, work_at_the_end);
    if (pthread_create(&thread, NULL, end_at_once, &value) != 0)
        return 1;
    pthread_join(thread, NULL);
    return value == 0;
}
