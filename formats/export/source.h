/* SPDX-License-Identifier: MIT */
/* The text of source files, for formats with embedded sources, and for display on this machine. */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

#include <time.h>

/*
 * Replaces the content of out by the text and a NUL. The path comes from debug information and may
 * name anything (a FIFO, a device, a private key); the text spreads with the profile. The file is
 * read only if
 *
 *     the path is absolute and leads to a regular file readable by the caller (see rights.h),
 *     its name and the names behind links are names of source files of compiled languages,
 *     its last change is not later than the given time (0: any),
 *     its content is text of at most 1 MiB.
 *
 * 0 or a negative errno; -ESTALE: changed later.
 */
int source_read(const char *path, time_t before, struct buffer *out);

/* The same for display: also source files of scripts, as in jitdumps. */
int source_read_shown(const char *path, time_t before, struct buffer *out);

/* An upper bound for the last change of the source files of a lib: the file's last change, if still
 * present, and the time of the recording; 0: unknown. */
time_t source_build_time(const struct profile *profile, uint32_t lib);
