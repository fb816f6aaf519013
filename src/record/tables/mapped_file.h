/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file as a process has mapped it. */
struct mapped_file {
    pid_t pid;
    const char *path; /* as the process sees it */
    uint64_t inode;
    uint64_t start_avma, end_avma; /* of one mapping of it */
};

/* Opens the very file, and no other that may lie at its path by now: also below another root, and when it was
 * deleted (if it is the program of the process, or if we have the privilege). A descriptor and what fstat()
 * says of it, or -ENOENT. */
int mapped_file_open(const struct mapped_file *file, struct stat *status);
