/* SPDX-License-Identifier: MIT */
/* The descriptors of the session's memory. Hooks: close(), close_range(), closefrom(). */
#pragma once

#include "sampler/base/hook.h"

HOOK int close(int fd);
HOOK int close_range(unsigned first, unsigned last, int flags);
HOOK void closefrom(int lowest);
