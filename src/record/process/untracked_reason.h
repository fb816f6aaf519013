/* SPDX-License-Identifier: MIT */
/* Why a process of the tree has no sampler, as far as /proc and its executable show. */
#pragma once

#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The executable of a privileged process is hidden from other users: its id is this. */
#define EXECUTABLE_HIDDEN 1

/* One number for the file that a process executes; 0: unknown. */
uint64_t executable_id_of(pid_t pid);
/* The same, and what stat() returned. False: stat() failed, and *file is not set. */
bool executable_id_read(pid_t pid, struct stat *file, uint64_t *id);

/* A reason that cannot go away; NULL: the process may still be on its way to its sampler. */
const char *untracked_reason_permanent(const struct session *session, pid_t pid,
                                       uint64_t executable_id);

/* parents_id: the executable of its parent. Never NULL; static text. */
const char *untracked_reason(const struct session *session, pid_t pid, uint64_t executable_id,
                             uint64_t parents_id);
