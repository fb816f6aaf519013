/* SPDX-License-Identifier: MIT */
/*
 * Where the dynamic linker finds the sampler. Usually where it is installed. It cannot be named there when
 * the path has a space or a colon, at which LD_PRELOAD is split, or a "$LIB", or is longer than the sampler can
 * keep; and root's programs that become somebody else could not read it in a directory that is root's alone. Then
 * a copy in a directory of this recording stands in for it.
 */
#pragma once

#include "base/error.h"

struct preload_path {
    char path[4096];    /* for LD_PRELOAD */
    char directory[64]; /* of the copy; empty: there is none */
};

/* installed: the sampler's own path. Refuses one that others could have written. */
int preload_path_make(struct preload_path *alias, const char *installed, struct error *error);
void preload_path_remove(struct preload_path *alias);
