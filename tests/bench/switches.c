/* SPDX-License-Identifier: MIT */
/* switches ROUNDS PROCESSOR [threads]: two processes, or threads of one, on one processor hand a byte back and forth
 * through pipes. Writes the CPU time of both for each context switch, in ns, to the file BENCH_RESULT. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int hand_back(int from, int to)
{
    char byte;
    while (read(from, &byte, 1) == 1)
        if (write(to, &byte, 1) != 1)
            return 1;
    return 0;
}

static int play(int to, int from, unsigned long rounds)
{
    char byte = 0;
    for (unsigned long i = 0; i < rounds; i++)
        if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
            return -1;
    return 0;
}

static int64_t used_ns(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

static int report(int64_t ns)
{
    const char *path = getenv("BENCH_RESULT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return -1;
    fprintf(file, "%lld\n", (long long)ns);
    return fclose(file);
}

static int stay_on_processor(unsigned long processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof(set), &set);
}

struct pipes {
    int there[2], back[2];
};

static void *hand_back_in_thread(void *argument)
{
    const struct pipes *pipes = argument;
    hand_back(pipes->there[0], pipes->back[1]);
    return NULL;
}

static int play_with_thread(struct pipes *pipes, unsigned long rounds)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, hand_back_in_thread, pipes) != 0)
        return -1;
    int err = play(pipes->there[1], pipes->back[0], rounds);
    close(pipes->there[1]);
    return pthread_join(thread, NULL) == 0 ? err : -1;
}

static int play_with_process(const struct pipes *pipes, unsigned long rounds)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(pipes->there[1]);
        _exit(hand_back(pipes->there[0], pipes->back[1]));
    }
    int err = pid < 0 ? -1 : play(pipes->there[1], pipes->back[0], rounds);
    close(pipes->there[1]);
    return waitpid(pid, &status, 0) == pid && status == 0 ? err : -1;
}

int main(int argc, char **argv)
{
    struct pipes pipes;
    if (argc < 3 || stay_on_processor(strtoul(argv[2], NULL, 10)) != 0 || pipe(pipes.there) != 0 ||
        pipe(pipes.back) != 0)
        return 2;
    unsigned long rounds = strtoul(argv[1], NULL, 10);
    int64_t start_ns = used_ns(RUSAGE_SELF);
    if ((argc > 3 ? play_with_thread(&pipes, rounds) : play_with_process(&pipes, rounds)) != 0)
        return 1;
    int64_t ns = used_ns(RUSAGE_SELF) - start_ns + used_ns(RUSAGE_CHILDREN);
    return report(ns / (int64_t)(2 * rounds)) == 0 ? 0 : 1;
}
