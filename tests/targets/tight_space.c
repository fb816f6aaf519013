/* SPDX-License-Identifier: MIT */
/*
 * tight_space HOW: whether 700 MiB can be mapped where address space is limited to 1000 MiB: by setrlimit, setrlimit64,
 * prlimit, prlimit64, or before (HOW is limited); in the program and in a child. Then four threads work.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define LIMIT_BYTES (UINT64_C(1000) << 20)
#define WANTED_BYTES (UINT64_C(700) << 20)

static void set_limit(const char *how)
{
    struct rlimit limit = {LIMIT_BYTES, LIMIT_BYTES};
    struct rlimit64 limit64 = {LIMIT_BYTES, LIMIT_BYTES};
    int err = -1;
    if (strcmp(how, "setrlimit") == 0)
        err = setrlimit(RLIMIT_AS, &limit);
    else if (strcmp(how, "setrlimit64") == 0)
        err = setrlimit64(RLIMIT_AS, &limit64);
    else if (strcmp(how, "prlimit") == 0)
        err = prlimit(0, RLIMIT_AS, &limit, NULL);
    else if (strcmp(how, "prlimit64") == 0)
        err = prlimit64(getpid(), RLIMIT_AS, &limit64, NULL);
    else if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == LIMIT_BYTES)
        err = 0;
    if (err != 0)
        exit(2);
}

static void map_much(const char *who)
{
    void *memory = mmap(NULL, WANTED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%s: %s\n", who, memory == MAP_FAILED ? "no room" : "room");
    fflush(stdout);
    if (memory != MAP_FAILED)
        munmap(memory, WANTED_BYTES);
}

static void *work(void *unused)
{
    burn_until_ns(100000000);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    set_limit(argc > 1 ? argv[1] : "");
    map_much("program");
    pid_t child = fork();
    if (child == 0) {
        map_much("child");
        _exit(burn_until_ns(50000000) == 0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 3;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    map_much("at last");
    return 0;
}
