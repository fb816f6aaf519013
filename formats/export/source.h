/* SPDX-License-Identifier: MIT */
/* The text of source files, for formats that carry it along. */
#pragma once

#include "base/containers/buffer.h"

#include <time.h>

/*
 * Reads the file and ends it with a NUL. The path comes from debug information, which may name anything (a FIFO, a device,
 * a private key), and the text goes where the profile goes. So the file is read only if
 *
 *     the path is absolute, and the object at its end is a regular file that the reader (base/files/rights.h) may read,
 *     its name and the name behind links are names of source files of compiled languages,
 *     its last change is not later than the given time (0: any),
 *     its content is text of at most 1 MiB.
 *
 * 0 or a negative errno; -ESTALE: changed later.
 */
int source_read(const char *path, time_t before, struct buffer *out);
