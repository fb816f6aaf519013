/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/files/rights.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file as mapped by a process. */
struct mapped_file {
    pid_t pid;        /* 0: unknown */
    const char *path; /* in the view of the process */
    uint64_t device, inode;
    uint64_t start_avma, end_avma; /* of a mapping of the file */
    const struct rights *rights;   /* of the process */
};

/* Opens the mapped file, never a successor at the same path, with the rights of the process.
 * Works in another root directory, too, and for a deleted file if the file is the executable of
 * the process, or the launcher is privileged. A descriptor and the result of fstat(), or a
 * negative errno. */
int mapped_file_open(const struct mapped_file *file, struct stat *status);
