/* SPDX-License-Identifier: MIT */
/*
 * What is read need not be a file: `perf record -o - app | rec convert - -o app.folded`. Reading
 * takes several passes, so what cannot be read twice is first kept in an unnamed file, which goes
 * when rec ends.
 */
#pragma once

#include "base/text/error.h"

/* *path: of a file that can be opened again and again, in place of what was named. Stays as it is
 * when it is one already, or cannot be opened at all. -ENOENT: the usual one is not there. */
int input_resolve(const char **path, struct error *error);
