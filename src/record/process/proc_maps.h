/* SPDX-License-Identifier: MIT */
/* The executable mappings of a process, from /proc/PID/maps. The parser takes bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_mapping {
    uint64_t start_avma, end_avma, file_offset;
    uint64_t device, inode; /* of the file, as stat() has them */
    bool is_executable;
    bool is_writable;
    char *path; /* owned; "" for anonymous memory; " (deleted)" is cut off */
};

struct proc_maps {
    struct proc_mapping *mappings; /* in address order; only the executable ones */
    size_t count, capacity;
    uint64_t memfd_inode; /* set before reading: is this memfd mapped? */
    bool has_memfd;
};

int proc_maps_parse(struct proc_maps *maps, const char *text, size_t size);
int proc_maps_read(struct proc_maps *maps, pid_t pid);
void proc_maps_free(struct proc_maps *maps);
