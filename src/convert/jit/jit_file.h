/* SPDX-License-Identifier: MIT */
/*
 * Opens the files of runtimes: /tmp/perf-PID.map and jit-PID.dump. The directories are
 * world-writable, so a file is read only if regular, owned by the process' user, by ours or by
 * root, and no link. Below the root of a living process (a container), no link leads out.
 */
#pragma once

#include "base/containers/buffer.h"
#include "convert/jit/jit_sources.h"

#include <stdint.h>
#include <sys/types.h>

struct jit_file_place {
    int32_t pid;
    uid_t owner;                 /* of the capture */
    struct jit_sources *sources; /* destination */
    /* Older files belong to another process; 0: unknown. */
    uint64_t since_wall_ns;
};

/* Appends a process' perf map to out: below the process' own root and by its pid in there while
 * alive, else in /tmp. 0, -ENOENT, or the reason for a refusal: -EPERM (owner), -EFBIG, -ESTALE
 * (older than the process). 1: already read for another process, *known. */
int jit_file_read_map(const struct jit_file_place *place, struct buffer *out,
                      struct jit_source **known);

/* The same for a mapped jitdump at this path. */
int jit_file_read_dump(const struct jit_file_place *place, const char *path, struct buffer *out,
                       struct jit_source **known);
