/* SPDX-License-Identifier: MIT */
/* A line of /proc/PID/maps (proc_pid_maps(5)): start-end perms offset dev inode   path */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
    uint64_t start_avma, end_avma, file_offset;
    uint64_t device, inode; /* of the file, as stat() has them */
    bool is_writable, is_executable, is_shared;
    const char *path; /* in the line */
    size_t path_bytes;
    bool is_deleted; /* " (deleted)" follows the path */
};

/* Bytes of a path, up to the end of its line, without the " (deleted)" of the kernel. */
size_t maps_path_bytes(const char *path);

/* False: not a line of such a file. */
bool maps_line_parse(struct maps_line *parsed, const char *line);
