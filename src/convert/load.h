/* SPDX-License-Identifier: MIT */
/*
 * perf.data -> profile model, unnamed, then named. The only door from a recording to the exporters.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

#include <stdbool.h>

struct convert_options {
    const char *debug_directory; /* where separate debug files lie; NULL: /usr/lib/debug */
};

/* Loads the file and orders its samples by time. Damage is not an error: what lies before it is
 * loaded, and a note "damage" says so. */
int convert_load(struct profile **out, const char *path, struct error *error);

/* Names every address: from the names stored in the file (when it has them), else from the binaries. */
int convert_resolve(struct profile *profile, const char *path, const struct convert_options *options,
                    struct error *error);

/* Stores the names that convert_resolve() found in the file itself, so that a copy of it on another
 * machine converts to the same names. */
int convert_store_names(const struct profile *profile, const char *path, struct error *error);
