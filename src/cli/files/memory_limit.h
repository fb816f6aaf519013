/* SPDX-License-Identifier: MIT */
/* --memory-limit of commands with a conversion (base/budget.h). */
#pragma once

#include "base/text/error.h"

#include <stdint.h>

/* Sets the memory budget of the conversion. bytes: from the option; 0: the default for the size of
 * the capture. */
void memory_limit_begin(const char *path, uint64_t bytes);

/* The message for a conversion with the result -ENOMEM. Returns -ENOMEM. */
int memory_limit_explain(const char *path, struct error *error);
