/* SPDX-License-Identifier: MIT */
/*
 * The sampler's path for LD_PRELOAD: the installed file, if possible. A copy replaces a path with
 * characters special to the dynamic linker (space, colon, dollar), a path too long for the sampler,
 * and, for root, a path closed to other users: programs without root's rights could not read the
 * file.
 */
#pragma once

#include "base/text/error.h"

#define PRELOAD_PATH_BYTES 4096

/* installed: the sampler's own path, not to be replaceable by other users. */
int preload_path_find(char path[PRELOAD_PATH_BYTES], const char *installed, struct error *error);
