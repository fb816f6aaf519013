/* SPDX-License-Identifier: MIT */
/* Filters of system calls, and access to the time stamp counter. Hook: prctl(). */
#pragma once

#include "sampler/base/hook.h"

HOOK int prctl(int option, ...);
