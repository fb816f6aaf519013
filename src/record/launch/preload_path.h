/* SPDX-License-Identifier: MIT */
/*
 * The path of the sampler for LD_PRELOAD. As a rule the sampler is loaded from where it is
 * installed. A copy stands in for it where the dynamic linker splits or expands the path (a space,
 * a colon, a dollar), where the path is longer than the sampler can keep, and where root's programs
 * that change their user could not read it.
 */
#pragma once

#include "base/error.h"

#define PRELOAD_PATH_BYTES 4096

/* installed: the sampler's own path, which must not be replaceable by other users. */
int preload_path_find(char path[PRELOAD_PATH_BYTES], const char *installed, struct error *error);
