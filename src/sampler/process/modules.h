/* SPDX-License-Identifier: MIT */
/* Unloaded libraries. Hook: dlclose(). */
#pragma once

#include "sampler/base/hook.h"

HOOK int dlclose(void *handle);
