/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/rights.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file as a process has mapped it. */
struct mapped_file {
    pid_t pid;        /* 0: unknown */
    const char *path; /* as the process sees it */
    uint64_t device, inode;
    uint64_t start_avma, end_avma; /* of one mapping of it */
    const struct rights *rights;   /* of the process */
};

/* Opens the mapped file and no other that lies at the path by now, with the rights of the process: also below another
 * root, and when it was deleted (if it is the program of the process, or if we have the privilege). A descriptor and what
 * fstat() returned for it, or a negative errno. */
int mapped_file_open(const struct mapped_file *file, struct stat *status);
