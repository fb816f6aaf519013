/* SPDX-License-Identifier: MIT */
/*
 * Which files are Go programs. The last ones that were looked at are remembered by what stat() says of them: a
 * build runs a few files thousands of times. For one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define GO_PROGRAMS_REMEMBERED 32

struct go_programs {
    struct {
        dev_t device;
        ino_t inode;
        off_t bytes;
        struct timespec changed; /* 0: nothing is remembered here */
        bool is_go;
    } files[GO_PROGRAMS_REMEMBERED];
    size_t next;
};

/* path: a link of the kernel to the program of this process (pid 0: ours); status: of that file. False also for what is
 * no program, or is not readable for the process. */
bool go_programs_have(struct go_programs *known, pid_t pid, const char *path,
                      const struct stat *status);
