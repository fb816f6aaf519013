/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text/error.h"

/* Opens the folder of speedscope's page (dist/release of its npm package). path NULL: below
 * node_modules of this folder and of its parents, or of global installations. Returns a descriptor
 * or a negative errno. */
int speedscope_open(const char *path, struct error *error);
