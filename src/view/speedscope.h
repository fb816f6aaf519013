/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text/error.h"

/*
 * Opens the folder of speedscope's page (dist/release of its npm package). Scripts of the folder
 * can read the profile and the sources. path NULL: in a global installation, below folders of root
 * or of this user that no other user can change; never below the working directory, which may be a
 * checkout of another author. Returns a descriptor or a negative errno.
 */
int speedscope_open(const char *path, struct error *error);
