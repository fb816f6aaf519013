/* SPDX-License-Identifier: MIT */
/* small_stacks STACK_BYTES USED_BYTES MILLISECONDS: four threads with stacks of that size, nearly full; and
 * one that reads whether its own stack holds that size, and where it ends. */
#include "burn.h"

#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t stack_bytes, used_bytes;
static uint64_t end_ns;

static void *look_at_own_stack(void *unused)
{
    pthread_t thread = pthread_self();
    pthread_attr_t attributes;
    void *address;
    size_t bytes;
    pthread_getattr_np(thread, &attributes);
    pthread_attr_getstack(&attributes, &address, &bytes);
    printf("%s, the end %zu above the thread\n", bytes >= stack_bytes ? "enough" : "too small",
           (size_t)((char *)address + bytes - (char *)thread) % 4096);
    pthread_attr_destroy(&attributes);
    return unused;
}

__attribute__((noinline)) static void *work_on_a_full_stack(void *unused)
{
    (void)unused;
    char *block = alloca(used_bytes);
    memset(block, 7, used_bytes);
    burn_until_ns(end_ns);
    for (size_t i = 0; i < used_bytes; i++)
        if (block[i] != 7)
            return (void *)1;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 98;
    stack_bytes = strtoull(argv[1], NULL, 10);
    end_ns = 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, stack_bytes) != 0)
        return 2;
    /* Functions are bound here: the dynamic linker takes 3 KiB for that, which the threads do not have. */
    used_bytes = 16;
    work_on_a_full_stack(NULL);
    used_bytes = strtoull(argv[2], NULL, 10);
    end_ns = strtoull(argv[3], NULL, 10) * 1000000;
    pthread_t threads[4];
    int changed = 0;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], &attributes, work_on_a_full_stack, NULL) != 0)
            return 3;
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        changed += result != NULL;
    }
    printf("%d changed\n", changed);
    if (pthread_create(&threads[0], &attributes, look_at_own_stack, NULL) != 0)
        return 3;
    pthread_join(threads[0], NULL);
    return 0;
}
