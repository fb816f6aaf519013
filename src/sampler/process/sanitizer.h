/* SPDX-License-Identifier: MIT */
/* Hook: __asan_default_options(), read by the address sanitizer at its start. */
#pragma once

#include "sampler/base/hook.h"

HOOK const char *__asan_default_options(void);
