/* SPDX-License-Identifier: MIT */
/*
 * Regular files at paths that a recorded process, a capture, a binary or its debug info names. Such a path may lead to a
 * device, a FIFO or a terminal, and opening these has effects: watchdogs start, tapes rewind, modem lines change. So the
 * object is found before it is opened, and judged by the descriptor:
 *
 *     open(path, O_PATH)  ─▶  fstat(): regular?  ─▶  open("/proc/self/fd/N", O_RDONLY)  ─▶  fstat(): the same?
 *       without effect                                  whatever the path leads to by now
 *
 * Both opens have the rights of the user on whose behalf the file is read. Links are followed unless the caller refuses
 * them. Without /proc there is no way from the descriptor to the file, and nothing is opened.
 */
#pragma once

#include "base/rights.h"

#include <sys/stat.h>
#include <sys/types.h>

/* A descriptor to read from and what fstat() returned for it (may be NULL), or a negative errno. -ENOEXEC: not a regular
 * file; -ENOSYS: /proc is not mounted. rights: NULL for those of this process. */
int foreign_file_open(const char *path, const struct rights *rights, struct stat *status);

/* Makes foreign_file_open() return err for this path. For the path of a mapping of another user's process without an ELF
 * file behind it: later that process decides on the object at the path, and symbols are looked up with other rights. Not
 * thread-safe. */
void foreign_file_refuse(const char *path, int err);

/* The two steps, for callers with conditions of their own on the object in between. The first returns an O_PATH
 * descriptor for a path as a living process sees it (pid 0: this one); flags: O_NOFOLLOW or 0. The second closes that
 * descriptor; a negative errno in its place is returned. */
int foreign_file_find(pid_t pid, const char *path, int flags, const struct rights *rights);
int foreign_file_reopen(int place, const struct rights *rights, struct stat *status);

/* Why a file was not opened. */
const char *foreign_file_error(int err);
