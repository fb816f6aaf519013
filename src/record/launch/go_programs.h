/* SPDX-License-Identifier: MIT */
/*
 * Detects Go programs. Results for the latest files are cached by device, inode, size and ctime: a
 * build runs a few files thousands of times. Not thread-safe.
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
        struct timespec changed; /* 0: empty entry */
        bool is_go;
    } files[GO_PROGRAMS_REMEMBERED];
    size_t next;
};

/* path: /proc/PID/exe of this process (pid 0: ours); status: of the file. False also for files
 * other than ELF files, and files unreadable with the rights of the process. */
bool go_programs_have(struct go_programs *known, pid_t pid, const char *path,
                      const struct stat *status);
