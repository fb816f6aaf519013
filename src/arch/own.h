/* SPDX-License-Identifier: MIT */
/* Facts about the machine that rec runs on, for all folders; code for this machine is in the arch/
 * folders. */
#pragma once

#if defined(__x86_64__)
#include "arch/x86_64.h"
#else
#error "no header for this processor: see CONTRIBUTING.md, a machine"
#endif
