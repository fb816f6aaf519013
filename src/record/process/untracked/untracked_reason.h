/* SPDX-License-Identifier: MIT */
/* Finds out from /proc and the executable why a process of the tree has no sampler. */
#pragma once

#include "record/session/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The id of a hidden executable: other users cannot see the executable of a privileged process. */
#define EXECUTABLE_HIDDEN 1

/* One number for the executable of a process; 0: unknown. */
uint64_t executable_id_of(pid_t pid);
/* The same, with the result of stat(). False: stat() failed, and *file is not set. */
bool executable_id_read(pid_t pid, struct stat *file, uint64_t *id);

/* A reason that cannot go away; NULL: the process may still be before its constructor. */
const char *untracked_reason_permanent(const struct session *session, pid_t pid,
                                       uint64_t executable_id);

/* Whether the dynamic linker has mapped the sampler, and the sampler has not begun yet: relocations
 * of a program with 200 libraries take 0.3 s of CPU time (Blender). */
bool untracked_is_in_loader(const struct session *session, pid_t pid);

/* Whether the engine perf-ring can unwind the program, and no other rec records the process. */
bool untracked_takes_ring(const struct session *session, pid_t pid);

/* parents_id: the parent's executable. Never NULL; static text. */
const char *untracked_reason(const struct session *session, pid_t pid, uint64_t executable_id,
                             uint64_t parents_id);
