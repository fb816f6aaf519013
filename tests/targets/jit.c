/* SPDX-License-Identifier: MIT */
/*
 * Makes code at run time and runs it: `jit none|map|dump SECONDS [NAME]`. First "first" (or NAME) runs for
 * half of the time, then "second", at the same address. With "map" both get addresses of their own, which
 * /tmp/perf-PID.map names; with "dump" jit-PID.dump in the directory at hand says when which was there.
 */
#include "burn.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; mov $1000000,%eax; 1: dec %eax; jnz 1b; pop %rbp; ret */
static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 0x40, 0x42, 0x0f,
                                     0x00, 0xff, 0xc8, 0x75, 0xfc, 0x5d, 0xc3};

static void describe(FILE *dump, const void *code, const char *name, uint64_t index)
{
    struct {
        uint32_t kind, bytes;
        uint64_t time_ns;
        uint32_t pid, tid;
        uint64_t vma, address, size, index;
    } load = {.bytes = (uint32_t)(sizeof(load) + strlen(name) + 1 + sizeof(loop)),
              .time_ns = burn_clock_ns(CLOCK_MONOTONIC),
              .pid = (uint32_t)getpid(),
              .tid = (uint32_t)getpid(),
              .vma = (uint64_t)code,
              .address = (uint64_t)code,
              .size = sizeof(loop),
              .index = index};
    fwrite(&load, sizeof(load), 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(loop, sizeof(loop), 1, dump);
    fflush(dump);
}

static FILE *open_dump(void)
{
    char name[64];
    struct {
        uint32_t magic, version, bytes, machine, padding, pid;
        uint64_t time_ns, flags;
    } header = {0x4a695444, 1, sizeof(header), 62, 0, (uint32_t)getpid(), 0, 0};
    snprintf(name, sizeof(name), "jit-%d.dump", getpid());
    FILE *dump = fopen(name, "w+");
    if (!dump)
        exit(1);
    fwrite(&header, sizeof(header), 1, dump);
    fflush(dump);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
        exit(1);
    return dump;
}

static FILE *open_map(const char *code, const char *first)
{
    char name[64];
    snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(name, "w");
    if (!map)
        exit(1);
    fprintf(map, "%lx 100 %s\n%lx 100 second\n", (unsigned long)code, first,
            (unsigned long)code + 256);
    return map;
}

static void run_until(const char *code, double seconds)
{
    uint64_t end = (uint64_t)(seconds * 1e9);
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        ((void (*)(void))(uintptr_t)code)();
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        return 2;
    double seconds = atof(argv[2]);
    const char *first = argc == 4 ? argv[3] : "first";
    char *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, loop, sizeof(loop));
    memcpy(code + 256, loop, sizeof(loop));
    FILE *dump = strcmp(argv[1], "dump") == 0 ? open_dump() : NULL;
    FILE *map = strcmp(argv[1], "map") == 0 ? open_map(code, first) : NULL;
    if (dump)
        describe(dump, code, first, 1);
    run_until(code, seconds / 2);
    if (dump)
        describe(dump, code, "second", 2);
    run_until(map ? code + 256 : code, seconds);
    if (map)
        fclose(map);
    return 0;
}
