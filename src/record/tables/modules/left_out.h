/* SPDX-License-Identifier: MIT */
/* Counts files that were put off, each once: a file is mapped again and again, and its module may
 * be evicted meanwhile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LEFT_OUT_MAX 4096 /* later files are not counted */

/* Files that were put off, a part of them or all: of other users in a recording of root for lack of
 * time or memory, and all others for lack of memory for unwind tables. */
struct left_out {
    uint64_t files, tables;
};

struct left_out_files {
    uint64_t seed; /* else a user could choose files of one place */
    struct left_out counts;
    uint64_t keys[2 * LEFT_OUT_MAX]; /* hash table; 0: free */
};

/* is_of_others: of other users in a recording of root. */
void left_out_add(struct left_out_files *files, const char *path, uint64_t device, uint64_t inode,
                  bool is_of_others);
