/* SPDX-License-Identifier: MIT */
/*
 * The text of a source file named by debug info, from the first of:
 *
 *     --source-dir OLD=NEW    NEW in place of a leading OLD
 *     the recorded path       below --symfs
 *     debuginfod              by the build-id of the module, with --debuginfod
 *
 * The rules of export/source.h hold for each. A file changed after the build of
 * the module is refused (-ESTALE): the lines may differ.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"
#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

enum { SOURCE_DIRS_MAX = 16 };

struct source_dirs { /* of --source-dir, borrowed */
    const char *mappings[SOURCE_DIRS_MAX];
    size_t count;
};

/* Adds OLD=NEW. -EINVAL: no "=", or too many. */
int source_dirs_add(struct source_dirs *dirs, const char *mapping, struct error *error);

struct source_request {
    const struct profile *profile;
    const struct convert_options *options;
    const struct source_dirs *dirs;
    uint32_t lib;     /* with code of the file; PROFILE_NONE: none */
    const char *file; /* as in debug info */
};

/* Replaces the content of out by the text and a NUL. 0, or a negative errno and the reason. */
int source_text(const struct source_request *request, struct buffer *out, struct error *error);
