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
    const char *path; /* of map_path.h; "" for anonymous memory; without " (deleted)" */
};

struct proc_maps {
    struct proc_mapping *mappings; /* in address order; only executable mappings */
    size_t count, capacity;
    size_t left_out; /* beyond the budget of mappings */
    /* Set before reading; 0: do not search. */
    uint64_t memfd_device, memfd_inode; /* a shared mapping's file */
    uint64_t memfd_from_avma;           /* of mappings from this address on */
    bool has_memfd;                     /* out: found */
};

int proc_maps_parse(struct proc_maps *maps, const char *text, size_t size);
int proc_maps_read(struct proc_maps *maps, pid_t pid);
/* Searches only, without the list: 3 us where the kernel has PROCMAP_QUERY. */
int proc_maps_look(struct proc_maps *maps, pid_t pid);
void proc_maps_free(struct proc_maps *maps);

/* The start of the mapping, of any kind, with this address; 0: none, or no right to read. */
uint64_t proc_maps_start(pid_t pid, uint64_t avma);
