/* SPDX-License-Identifier: MIT */
/* Hooks: posix_spawn(), posix_spawnp(), each in two versions, system(), popen(). */
#pragma once

#include "sampler/base/hook.h"

#include <stdio.h>

HOOK int system(const char *command);
HOOK FILE *popen(const char *command, const char *mode);
