/* SPDX-License-Identifier: MIT */
/* What a program's file tells of whether the sampler can be loaded into it. */
#pragma once

#include <stdbool.h>

struct program {
    const char *reason; /* why the sampler cannot be loaded; NULL: it can, for all that is known */
    bool is_foreign;    /* its loader would complain about the sampler, or fail */
};

extern const char program_is_privileged[]; /* a reason */

/* The file that is executed in the end: a script is what its interpreter is. */
struct program program_look(const char *path);
