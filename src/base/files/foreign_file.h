/* SPDX-License-Identifier: MIT */
/*
 * Regular files at paths from a recorded process, a capture, a binary or its debug info. Such a
 * path may lead to a device, a FIFO or a terminal, and opening these has effects: watchdogs start,
 * tapes rewind, modem lines change. The object is therefore located and checked before it is
 * opened:
 *
 *     open(path, O_PATH)  ─▶  fstat(): regular?  ─▶  open("/proc/self/fd/N", O_RDONLY) ─▶ fstat():
 *       without effect                               independent of the path           same file?
 *
 * Both opens use the rights of the requesting user. Links are followed unless
 * the caller refuses links. Opening by descriptor needs /proc; without /proc nothing is opened.
 */
#pragma once

#include "base/files/rights.h"

#include <sys/stat.h>
#include <sys/types.h>

/* Returns a read descriptor and the result of fstat() (may be NULL), or a negative errno.
 * -ENOEXEC: not a regular file, or on a file system of the kernel such as /proc;
 * -ENOSYS: /proc is not mounted. rights: NULL for the rights of this process. */
int foreign_file_open(const char *path, const struct rights *rights, struct stat *status);

/* The same for an entry of a directory; a link is not followed (-ELOOP). */
int foreign_file_open_at(int directory, const char *name, struct stat *status);

/* Makes foreign_file_open() return err for this path. Used for mappings of another user's
 * process without an ELF file behind them: the process can replace the object at the path before
 * symbols are read with other rights. Not thread-safe. */
void foreign_file_refuse(const char *path, int err);

/* Both steps, for callers that check the object in between. foreign_file_find() returns an
 * O_PATH descriptor for a path in the root directory of a living process (pid 0: this process);
 * flags: O_NOFOLLOW or 0. foreign_file_reopen() closes the O_PATH descriptor, or passes a
 * negative errno through. */
int foreign_file_find(pid_t pid, const char *path, int flags, const struct rights *rights);
int foreign_file_reopen(int place, const struct rights *rights, struct stat *status);

/* Why a file was not opened. */
const char *foreign_file_error(int err);
