/* SPDX-License-Identifier: MIT */
/* Counts left-out files once each: a file is mapped again and again, and the module may be evicted
 * in between. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LEFT_OUT_MAX 4096 /* later files are not counted */

/* files: of other users in a recording of root, left out in whole or in part for lack of time or
 * memory. tables: all other files, left out for lack of memory for unwind tables. */
struct left_out {
    uint64_t files, tables;
};

struct left_out_files {
    uint64_t seed; /* random: no user can choose files with colliding hashes */
    struct left_out counts;
    uint64_t keys[2 * LEFT_OUT_MAX]; /* hash table; 0: free */
};

/* is_of_others: of other users in a recording of root. */
void left_out_add(struct left_out_files *files, const char *path, uint64_t device, uint64_t inode,
                  bool is_of_others);
