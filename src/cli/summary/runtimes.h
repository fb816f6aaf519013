/* SPDX-License-Identifier: MIT */
/* Language runtimes and emulators with incomplete stacks or without names: the cause, and the
 * remedy, if any. */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* Why stacks through the runtimes of the profile are incomplete. path: of the module where most
 * end; NULL: code generated at run time, or unknown. is_missing_cfi: false for other causes,
 * as coroutines in C, which generated code does not explain. The texts of several runtimes are
 * joined. Empty: no known runtime. */
void runtimes_explain_stacks(const struct profile *profile, const char *path, bool is_missing_cfi,
                             char *text, size_t size);

/* How code generated at run time gets names. Empty: no known runtime. */
void runtimes_explain_names(const struct profile *profile, char *text, size_t size);
