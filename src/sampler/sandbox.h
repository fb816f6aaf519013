/* SPDX-License-Identifier: MIT */
/* Filters of system calls that the program installs itself. */
#pragma once

#include "sampler/sampler.h"

/* Around the call that installs one: process.is_sandboxed as it was before, and whether it failed. Async-signal-safe. */
bool sandbox_begin(void);
void sandbox_end(bool before, bool has_failed);
