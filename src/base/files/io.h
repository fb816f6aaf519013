/* SPDX-License-Identifier: MIT */
/* Files, read and written whole. All return 0 or a negative errno. */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Transfer all of size bytes despite EINTR and short counts. io_pread: -ENODATA at an early end. */
int io_write(int fd, const void *bytes, size_t size);
int io_pwrite(int fd, const void *bytes, size_t size, uint64_t offset);
int io_pread(int fd, void *bytes, size_t size, uint64_t offset);

/* Reads from the current position to the end; -EFBIG past limit bytes. Works for pipes and
 * /proc. */
int io_read_all(int fd, struct buffer *out, size_t limit);
int io_read_file(const char *path, struct buffer *out, size_t limit);

/*
 * The smaller of the size and the disk space of a file, for limits that grow with the input: a
 * sparse file of any size costs its author nothing. Less than the data where the file system
 * compresses, or (ZFS) for some seconds after the last write; so a limit needs a fixed part for
 * small files, and an option.
 */
uint64_t io_stored_bytes(const struct stat *status);

/* Opens a path in the root directory of a living process; links cannot lead out of the root. pid
 * 0: this process. Never blocks on a FIFO. Returns a close-on-exec descriptor or a negative
 * errno. */
int io_open_in_root_of(pid_t pid, const char *path, int flags);

/* Occupies closed standard descriptors with an O_PATH descriptor, which permits neither read nor
 * write. Otherwise the next opened file would become standard output or error and receive
 * messages. Close-on-exec: executed programs see the descriptors closed. */
void io_take_closed_standard_places(void);
