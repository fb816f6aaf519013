/* SPDX-License-Identifier: MIT */
/* What a program's file tells of whether the sampler can be loaded into it. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct program {
    const char *reason; /* why the sampler cannot be loaded; NULL: it can, for all that is known */
    bool is_foreign;    /* its loader would complain about the sampler, or fail */
};

extern const char program_is_privileged[]; /* a reason */

/* The file that is executed in the end: a script is what its interpreter is. pid: in whose root directory it finds its
 * dynamic linker; 0: in ours. */
struct program program_look(const char *path, pid_t pid);

/* The dynamic linker that this program runs with; all 0 when that is unknown. */
void program_own_linker(struct stat *status);
