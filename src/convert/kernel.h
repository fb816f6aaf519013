/* SPDX-License-Identifier: MIT */
/* Names of kernel code: only of the kernel that runs, and only when it is the one that was recorded. */
#pragma once

#include "profile/profile.h"
#include "symbols/symbols.h"

struct kernel_names {
    struct symbols *symbols; /* NULL: none */
    uint64_t moved;          /* recorded address + moved: where the code is now */
};

/* 0, or -ENOENT when this is not the recorded kernel, or does not show its symbols. */
int kernel_names_open(struct kernel_names *names, const struct profile *profile,
                      const struct profile_lib *lib);
void kernel_names_close(struct kernel_names *names);

int kernel_names_resolve(struct kernel_names *names, uint64_t avma, struct symbol_result *result);
