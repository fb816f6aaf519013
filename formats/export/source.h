/* SPDX-License-Identifier: MIT */
/* The text of source files, for formats with embedded sources. */
#pragma once

#include "base/containers/buffer.h"

#include <time.h>

/*
 * Reads the file and ends the text with a NUL. The path comes from debug information and may name
 * anything (a FIFO, a device, a private key); the text spreads with the profile. The file is read
 * only if
 *
 *     the path is absolute and leads to a regular file readable by the caller (see rights.h),
 *     its name and the names behind links are names of source files of compiled languages,
 *     its last change is not later than the given time (0: any),
 *     its content is text of at most 1 MiB.
 *
 * 0 or a negative errno; -ESTALE: changed later.
 */
int source_read(const char *path, time_t before, struct buffer *out);
