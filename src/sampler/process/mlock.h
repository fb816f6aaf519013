/* SPDX-License-Identifier: MIT */
/* Hook: mlockall(). */
#pragma once

#include "sampler/base/hook.h"

HOOK int mlockall(int flags);
