/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text/error.h"

/* Opens the folder of speedscope's page (dist/release of its npm package). path NULL: below
 * node_modules of this folder and of its parents, or of global installations; only a folder of root
 * or of this user, and not writable by all. Returns a descriptor or a negative errno. */
int speedscope_open(const char *path, struct error *error);
