/* SPDX-License-Identifier: MIT */
/*
 * The sampler's path for LD_PRELOAD: the installed file, if possible. A copy replaces a path that
 * the dynamic linker would split or expand (space, colon, dollar), a path longer than the sampler
 * can hold, and, for root, a path closed to other users: programs that drop root's rights could not
 * read the file.
 */
#pragma once

#include "base/text/error.h"

#define PRELOAD_PATH_BYTES 4096

/* installed: the sampler's own path, not to be replaceable by other users. */
int preload_path_find(char path[PRELOAD_PATH_BYTES], const char *installed, struct error *error);
