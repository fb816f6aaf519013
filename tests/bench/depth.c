/* SPDX-License-Identifier: MIT */
/*
 * depth DEPTH LEAVES SPIN: LEAVES times, recurses DEPTH frames down and spins SPIN times in the leaf.
 *
 * Almost all of the time is spent in the leaf, so nearly every sample has the full depth. Writes the CPU time of
 * this work, and of the process so far, in ns, to the file BENCH_RESULT: the time before main is no cost of samples.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t spin(uint64_t count)
{
    uint64_t state = count;
    for (uint64_t i = 0; i < count; i++)
        state = state * 6364136223846793005u + 1442695040888963407u;
    return state;
}

/* No tail call and no constant result: every frame exists. */
__attribute__((noinline)) static uint64_t descend(unsigned depth, uint64_t count)
{
    uint64_t result = depth == 0 ? spin(count) : descend(depth - 1, count);
    __asm__ volatile("" : "+r"(result));
    return result + depth;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    unsigned depth = (unsigned)strtoul(argv[1], NULL, 10);
    uint64_t leaves = strtoull(argv[2], NULL, 10);
    uint64_t count = strtoull(argv[3], NULL, 10);
    uint64_t start_ns = cpu_ns();
    for (uint64_t i = 0; i < leaves; i++)
        (void)descend(depth, count);
    uint64_t work_ns = cpu_ns() - start_ns;
    const char *path = getenv("BENCH_RESULT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return 1;
    fprintf(file, "%llu %llu\n", (unsigned long long)work_ns, (unsigned long long)cpu_ns());
    return fclose(file) == 0 ? 0 : 1;
}
