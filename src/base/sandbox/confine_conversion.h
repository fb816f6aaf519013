/* SPDX-License-Identifier: MIT */
/*
 * Sandbox of a process that converts a capture of another author. The process still reads files and
 * starts the workers of workers.h, so the rules are wider than those of confine.h:
 *
 *     files     new files and writing only in the directories of the outputs; no execution
 *               (Landlock; opening for reading is not restricted)
 *     calls     no execve(), sockets, ptrace(), changes of mode, modules, mounts, namespaces,
 *               io_uring or BPF; these fail with EPERM (seccomp)
 *
 * Both apply to threads and processes started later. Landlock also hides /proc/PID/root of other
 * processes. Where the kernel has no Landlock or no seccomp, the other layer applies alone.
 */
#pragma once

#include <stddef.h>

/* Confines the calling, single-threaded process for ever. directories: O_PATH descriptors. 0 or a
 * negative errno. */
int confine_conversion(const int *directories, size_t count);
