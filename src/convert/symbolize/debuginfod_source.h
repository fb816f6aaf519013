/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

/* Fetches a source file named by the debug info of a lib (DEBUGINFOD_URLS), in 20 seconds at most.
 * Sets path to the file in the cache. 0 or a negative errno (debuginfod_fetch.h). */
int debuginfod_source(const struct profile_lib *lib, const char *source, struct buffer *path);
