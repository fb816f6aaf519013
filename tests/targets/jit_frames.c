/* SPDX-License-Identifier: MIT */
/*
 * Calls code made at run time: `jit_frames with|without|short SECONDS`. Three functions: the outer one has a frame
 * pointer, as call stubs of runtimes do; the middle one and the inner one, which burns, have it or not. Without,
 * the frame pointer leads from the inner one past the callers. "short": all have it, the middle one loops, and the
 * inner one does nothing; a perf map has their names.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Each function calls the next one. */
enum { APART = 1024, CODE_BYTES = 4096 };
#define CALL_NEXT(at) 0xe8, (APART - (at)-5) & 0xff, (APART - (at)-5) >> 8, 0, 0
/* mov $1000000,%eax; 1: dec %eax; jnz 1b */
#define BURN 0xb8, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc8, 0x75, 0xfc

/* push %rbp; mov %rsp,%rbp; …; pop %rbp; ret */
static const unsigned char calls_with[] = {0x55, 0x48, 0x89, 0xe5, CALL_NEXT(4), 0x5d, 0xc3};
static const unsigned char burns_with[] = {0x55, 0x48, 0x89, 0xe5, BURN, 0x5d, 0xc3};
/* push %rbp; sub $16,%rsp; …; add $16,%rsp; pop %rbp; ret */
#define END 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3
static const unsigned char calls_without[] = {0x55, 0x48, 0x83, 0xec, 0x10, CALL_NEXT(5), END};
static const unsigned char burns_without[] = {0x55, 0x48, 0x83, 0xec, 0x10, BURN, END};
/* push %rbp; mov %rsp,%rbp; push %rbx; push %rbx; mov $100000,%ebx; 1: call …; dec %ebx; jnz 1b; pop; pop; pop; ret */
static const unsigned char calls_often[] = {0x55, 0x48, 0x89, 0xe5, 0x53,          0x53, 0xbb,
                                            0xa0, 0x86, 0x01, 0x00, CALL_NEXT(11), 0xff, 0xcb,
                                            0x75, 0xf7, 0x5b, 0x5b, 0x5d,          0xc3};
static const unsigned char returns[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3};

static void name_functions(const unsigned char *code)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    if (!map)
        exit(1);
    static const char *const names[] = {"outer", "middle", "inner"};
    for (size_t i = 0; i < 3; i++)
        fprintf(map, "%lx %x %s\n", (unsigned long)(code + i * APART), APART, names[i]);
    fclose(map);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int is_short = strcmp(argv[1], "short") == 0;
    int is_with = strcmp(argv[1], "with") == 0;
    unsigned char *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, calls_with, sizeof(calls_with));
    if (is_short) {
        memcpy(code + APART, calls_often, sizeof(calls_often));
        memcpy(code + 2 * APART, returns, sizeof(returns));
        name_functions(code);
    } else if (is_with) {
        memcpy(code + APART, calls_with, sizeof(calls_with));
        memcpy(code + 2 * APART, burns_with, sizeof(burns_with));
    } else {
        memcpy(code + APART, calls_without, sizeof(calls_without));
        memcpy(code + 2 * APART, burns_without, sizeof(burns_without));
    }
    uint64_t end_ns = (uint64_t)(atof(argv[2]) * 1e9);
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        ((void (*)(void))(uintptr_t)code)();
    return 0;
}
