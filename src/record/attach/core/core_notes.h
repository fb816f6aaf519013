/* SPDX-License-Identifier: MIT */
/* The notes of a core file (core(5); fs/binfmt_elf.c of the kernel): threads with registers, the
 * name of the process, mapped files. */
#pragma once

#include "unwind/registers.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct core_thread {
    pid_t tid;
    int signal; /* that ended the process; 0: another thread's */
    struct full_regs regs;
    uint64_t user_ns, kernel_ns;
};

struct core_mapping {
    uint64_t start_avma, end_avma, file_offset;
    const char *path; /* in the notes */
};

struct core_notes {
    char name[16]; /* of the process */
    pid_t pid;
    struct core_thread *threads; /* the thread that received the signal first; owned */
    size_t thread_count, thread_capacity;
    struct core_mapping *mappings; /* by start_avma; owned */
    size_t mapping_count, mapping_capacity;
    uint64_t entry_avma, vdso_avma; /* of the auxiliary vector; 0: unknown */
};

/* Takes the notes of one segment, which the caller keeps. 0 or -ENOMEM: malformed notes are left
 * out. */
int core_notes_take(struct core_notes *notes, const void *bytes, size_t size);
void core_notes_free(struct core_notes *notes);
