/* SPDX-License-Identifier: MIT */
/* --memory-limit of the commands that convert a capture (base/budget.h). */
#pragma once

#include "base/text/error.h"

#include <stdint.h>

/* Bounds the memory of converting the capture from now on. bytes: of the option; 0: the default for its size. */
void memory_limit_begin(const char *path, uint64_t bytes);

/* The sentence for a conversion that ended with -ENOMEM. Returns -ENOMEM. */
int memory_limit_explain(const char *path, struct error *error);
