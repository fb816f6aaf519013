/* SPDX-License-Identifier: MIT */
/* The header of the target processor. */
#pragma once

#if defined(__x86_64__)
#include "sampler/arch/x86_64.h"
#else
#error "the sampler has no header for this processor: see CONTRIBUTING.md, a machine"
#endif
