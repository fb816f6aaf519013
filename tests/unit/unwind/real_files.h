/* SPDX-License-Identifier: MIT */
/* Files of this system to hold what is made up against. The includer has cmocka. */
#pragma once

#include "elf/elf_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

/* NULL: not installed. For elf_close(). */
static inline struct elf_file *open_real_file(const char *path)
{
    struct elf_file *elf;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    assert_int_equal(elf_open(&elf, fd, NULL), 0);
    close(fd);
    return elf;
}

/* This program, the C library and the loader, as far as they are there. */
static inline void check_real_files(void (*check)(const struct elf_file *elf))
{
    static const char *const paths[] = {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
                                        "/lib64/ld-linux-x86-64.so.2"};
    size_t checked = 0;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct elf_file *elf = open_real_file(paths[i]);
        if (!elf)
            continue;
        check(elf);
        elf_close(elf);
        checked++;
    }
    assert_true(checked > 0);
}
