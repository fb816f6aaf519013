/* SPDX-License-Identifier: MIT */
/*
 * Bounds the CPU time of all processes that read symbols for a profile:
 *
 *     limit = 60 ms for each MiB of different files + 5 s
 *
 * A hostile capture of 10 MiB names a small file 60 000 times, by hard links: a process for each
 * takes a minute. The 5 s are for processes, and for files that are not counted: split, linked and
 * fetched debug info.
 */
#pragma once

#include "base/containers/intern.h"
#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolize_time { /* zeros: no files */
    struct intern *inodes;
    uint64_t file_bytes;   /* of these files */
    uint64_t start_cpu_ns; /* of children that ended before */
    size_t left_out;       /* files, or parts of them */
};

/* Counts the file of the lib, and its separate debug file by build-id. */
void symbolize_time_add(struct symbolize_time *time, const struct profile *profile,
                        const struct convert_options *options, uint32_t lib);
/* Before the first process. */
void symbolize_time_begin(struct symbolize_time *time);
/* Whether a process more would be beyond the limit; its files are left out then. Ended processes
 * count once they are waited for. */
bool symbolize_time_is_over(struct symbolize_time *time, size_t files);
/* Notes the files that were left out. */
void symbolize_time_add_note(const struct symbolize_time *time, struct profile *profile);
void symbolize_time_free(struct symbolize_time *time);
