/* SPDX-License-Identifier: MIT */
/* Examines the file of a program: whether its dynamic linker can load the sampler. */
#pragma once

#include "wire/session.h"

#include <stdbool.h>
#include <sys/types.h>

struct exec_target {
    const char *reason; /* why the sampler cannot be loaded; NULL: no obstacle found */
    bool is_foreign;    /* the program's loader would print an error about the sampler, or fail */
    bool takes_ring;    /* with a reason: the engine perf-ring can record the program */
    bool is_other_machine;
    struct session_linker linker; /* its dynamic linker, without a reason; 0: none, or unreadable */
};

extern const char exec_target_is_privileged[]; /* a possible reason */

/* Examines the exec target: for a script, its interpreter. pid: the process with the dynamic
 * linker in its root directory; 0: the launcher. */
struct exec_target exec_target_inspect(const char *path, pid_t pid);

/* The dynamic linker of the running rec; all 0 if unknown. */
struct session_linker exec_target_own_linker(void);
