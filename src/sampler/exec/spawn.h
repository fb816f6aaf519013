/* SPDX-License-Identifier: MIT */
/* Hooks: posix_spawn(), posix_spawnp(), system(), popen(). */
#pragma once

#include "sampler/base/hook.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

HOOK int posix_spawn(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const *argv,
                     char *const *environment);
HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const *argv,
                      char *const *environment);
HOOK int system(const char *command);
HOOK FILE *popen(const char *command, const char *mode);
