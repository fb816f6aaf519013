/* SPDX-License-Identifier: MIT */
/* Hooks: setrlimit(), setrlimit64(), prlimit(), prlimit64(). */
#pragma once

#include "sampler/base/hook.h"

#include <sys/resource.h>
#include <sys/types.h>

HOOK int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit);
HOOK int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit);
HOOK int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
                 struct rlimit *old);
HOOK int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit,
                   struct rlimit64 *old);
