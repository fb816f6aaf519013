/* SPDX-License-Identifier: MIT */
/*
 * The input of a command may be a pipe: `perf record -o - app | rec convert - -o app.folded`.
 * Reading takes several passes: pipes and devices are first copied to an unnamed temporary file.
 */
#pragma once

#include "base/text/error.h"

/* Replaces *path, if a pipe or a device, by the path of a copy. Regular files, directories and
 * missing files keep their path. -ENOENT: the default capture does not exist. */
int input_resolve(const char **path, struct error *error);
