/* SPDX-License-Identifier: MIT */
/* A stopped process that the tests of this folder look into: registers, stack, and the modules it has
 * mapped, each with its unwind information. */
#pragma once

#include "elf/elf_file.h"
#include "unwind/module.h"
#include "unwind/offline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRACEE_MAPPINGS_MAX = 512 };

struct tracee {
    pid_t pid;
    struct offline_mapping mappings[TRACEE_MAPPINGS_MAX]; /* executable ones, by address */
    struct elf_file *elfs[TRACEE_MAPPINGS_MAX];
    char names[TRACEE_MAPPINGS_MAX][256];
    size_t mapping_count;
    uint64_t stack_hi; /* of [stack] */
};

/* Starts the program stopped before its first instruction; false when tracing is not permitted. */
static inline bool tracee_start(struct tracee *tracee, char *const argv[])
{
    *tracee = (struct tracee){.pid = fork()};
    if (tracee->pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    return waitpid(tracee->pid, &status, 0) == tracee->pid && WIFSTOPPED(status);
}

static inline bool tracee_read(const struct tracee *tracee, uint64_t avma, void *out, size_t size)
{
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)avma, size};
    return process_vm_readv(tracee->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static inline struct full_regs tracee_regs(const struct user_regs_struct *u)
{
    return (struct full_regs){
        .value = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8, u->r9,
                  u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip},
        .known = (1u << UNWIND_DWARF_REGS) - 1,
    };
}

static inline void tracee_forget_mappings(struct tracee *tracee)
{
    for (size_t i = 0; i < tracee->mapping_count; i++) {
        unwind_module_close((struct unwind_module *)(uintptr_t)tracee->mappings[i].module);
        elf_close(tracee->elfs[i]);
    }
    tracee->mapping_count = 0;
}

static inline void tracee_open_vdso(struct tracee *tracee, size_t i)
{
    struct offline_mapping *mapping = &tracee->mappings[i];
    size_t size = mapping->end_avma - mapping->start_avma;
    uint8_t *image = malloc(size);
    struct unwind_module *module;
    if (image && tracee_read(tracee, mapping->start_avma, image, size) &&
        elf_open_memory(&tracee->elfs[i], image, size, NULL) == 0 &&
        elf_load_bias(tracee->elfs[i], mapping->start_avma, 0, &mapping->bias) == 0 &&
        unwind_module_open(&module, tracee->elfs[i], NULL, NULL) == 0)
        mapping->module = module;
    free(image);
}

static inline void tracee_open_file(struct tracee *tracee, size_t i, uint64_t offset)
{
    struct offline_mapping *mapping = &tracee->mappings[i];
    struct unwind_module *module;
    int fd = open(tracee->names[i], O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && elf_open(&tracee->elfs[i], fd, NULL) == 0 &&
        elf_load_bias(tracee->elfs[i], mapping->start_avma, offset, &mapping->bias) == 0 &&
        unwind_module_open(&module, tracee->elfs[i], NULL, NULL) == 0)
        mapping->module = module;
    if (fd >= 0)
        close(fd);
}

/* Reads the maps again, with the modules of all executable mappings. */
static inline void tracee_map(struct tracee *tracee)
{
    tracee_forget_mappings(tracee);
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)tracee->pid);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof(line), maps)) {
        uint64_t start, end, offset;
        char flags[8], name[256] = "";
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &start, &end,
                   flags, &offset, name) < 4)
            continue;
        if (strcmp(name, "[stack]") == 0)
            tracee->stack_hi = end;
        if (flags[2] != 'x' || tracee->mapping_count == TRACEE_MAPPINGS_MAX)
            continue;
        size_t i = tracee->mapping_count++;
        tracee->mappings[i] = (struct offline_mapping){.start_avma = start, .end_avma = end};
        tracee->elfs[i] = NULL;
        strcpy(tracee->names[i], name);
        if (strcmp(name, "[vdso]") == 0)
            tracee_open_vdso(tracee, i);
        else if (name[0] == '/')
            tracee_open_file(tracee, i, offset);
    }
    if (maps)
        fclose(maps);
}

static inline size_t tracee_find(const struct tracee *tracee, uint64_t pc)
{
    size_t i = 0;
    while (i < tracee->mapping_count &&
           !(pc >= tracee->mappings[i].start_avma && pc < tracee->mappings[i].end_avma))
        i++;
    return i;
}

static inline void tracee_end(struct tracee *tracee)
{
    kill(tracee->pid, SIGKILL);
    waitpid(tracee->pid, NULL, 0);
    tracee_forget_mappings(tracee);
}
