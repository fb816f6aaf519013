/* SPDX-License-Identifier: MIT */
/* The text of source files, for formats that carry it along. */
#pragma once

#include "base/buffer.h"

/*
 * Reads the file and ends it with a NUL. Only an absolute path to a regular file of at most 1 MiB
 * that is text and named like source, behind links, too: the path comes from debug information, which may
 * name anything (a FIFO, a device, a core dump, a private key), and the text goes where the profile goes. 0
 * or a negative errno.
 */
int source_read(const char *path, struct buffer *out);
