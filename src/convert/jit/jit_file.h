/* SPDX-License-Identifier: MIT */
/*
 * Opens what runtimes leave about their code: /tmp/perf-PID.map and jit-PID.dump. They lie in directories
 * that everybody may write to, so a file is read only if it is a regular file of the process' user, of
 * ours, or root's, and no link; below the root of a process that lives (a container's), no link leads out.
 */
#pragma once

#include "base/containers/buffer.h"
#include "convert/jit/jit_sources.h"

#include <stdint.h>
#include <sys/types.h>

struct jit_file_place {
    int32_t pid;
    uid_t owner;                 /* of the capture */
    struct jit_sources *sources; /* which the file is read into */
    /* Files that were written last before it are some other process'; 0: unknown. */
    uint64_t since_wall_ns;
};

/* The perf map of a process: below its own root and by its pid there while it lives, else in /tmp. Appends
 * to out. 0, -ENOENT, or why it is not read: -EPERM (owner), -EFBIG, -ESTALE (older than the process). 1: the file was
 * read for another process, *known. */
int jit_file_read_map(const struct jit_file_place *place, struct buffer *out,
                      struct jit_source **known);

/* The same for the file that a process had mapped at this path. */
int jit_file_read_dump(const struct jit_file_place *place, const char *path, struct buffer *out,
                       struct jit_source **known);
