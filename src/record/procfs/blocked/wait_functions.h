/* SPDX-License-Identifier: MIT */
/*
 * The functions of a C library that block in futex(): mutexes, condition variables, semaphores,
 * barriers and joins share this system call. From the symbol tables of the library, or of a static
 * program.
 */
#pragma once

#include "elf/elf_file.h"
#include "record/procfs/blocked/wait_kind.h"

#include <stddef.h>
#include <stdint.h>

struct wait_function {
    uint64_t start_svma, end_svma;
    enum wait_kind kind;
};

struct wait_functions {
    struct wait_function *functions; /* by address; owned */
    size_t count, capacity;
};

/* 0 or -ENOMEM; a file without such functions gives none. */
int wait_functions_read(struct wait_functions *functions, const struct elf_file *elf);
/* WAIT_OTHER: none of the functions. */
enum wait_kind wait_functions_find(const struct wait_functions *functions, uint64_t svma);
void wait_functions_free(struct wait_functions *functions);
