/* SPDX-License-Identifier: MIT */
/* Names of kernel code: only of the kernel that runs, and only when it is the one that was recorded. */
#pragma once

#include "profile/profile.h"
#include "symbols/symbols.h"

bool kernel_is_image(const struct profile *profile, const struct profile_lib *lib);

/* *moved: what to add to a recorded address. -ENOENT when this is not the recorded kernel, or does
 * not show its symbols. */
int kernel_open_symbols(struct symbols **symbols, const struct profile *profile,
                        const struct profile_lib *lib, uint64_t *moved);
