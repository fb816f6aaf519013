/* SPDX-License-Identifier: MIT */
/* What a program's file tells of whether the sampler can be loaded into it. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct exec_target {
    const char *reason; /* why the sampler cannot be loaded; NULL: it can, for all that is known */
    bool is_foreign;    /* its loader would complain about the sampler, or fail */
};

extern const char exec_target_is_privileged[]; /* a reason */

/* The file that is executed in the end: a script is what its interpreter is. pid: in whose root directory it finds its
 * dynamic linker; 0: in ours. */
struct exec_target exec_target_inspect(const char *path, pid_t pid);

/* The dynamic linker that this program runs with; all 0 when that is unknown. */
void exec_target_own_linker(struct stat *status);
