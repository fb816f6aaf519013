/* SPDX-License-Identifier: MIT */
/* Files, read and written whole. All return 0 or a negative errno. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All of size bytes, through EINTR and short counts. io_pread: -ENODATA when the file ends before. */
int io_write(int fd, const void *bytes, size_t size);
int io_pwrite(int fd, const void *bytes, size_t size, uint64_t offset);
int io_pread(int fd, void *bytes, size_t size, uint64_t offset);

/* Reads from the current position to the end; -EFBIG past limit bytes. Works for pipes and /proc. */
int io_read_all(int fd, struct buffer *out, size_t limit);
int io_read_file(const char *path, struct buffer *out, size_t limit);

/* Opens a path as a living process means it: in its root directory, out of which no link leads. 0 for the pid: our
 * own. Never waits for a pipe's other end. A descriptor, closed on exec, or a negative errno. */
int io_open_in_root_of(pid_t pid, const char *path, int flags);

/* Where standard input, output or error is closed, the next file would be opened in its place, and what is said be
 * written into it. Such a place is taken by what can neither be read nor written; programs that are executed find it closed. */
void io_take_closed_standard_places(void);
