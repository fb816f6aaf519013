/* SPDX-License-Identifier: MIT */
#pragma once

#include "wire/session.h"

/* Ends the sampling of this process. On return no signal of the sampler is pending in the calling
 * thread or will be, unless the launcher does not reply; the kernel blocks the signal where the
 * program does. Not async-signal-safe. */
void process_retire(enum retirement cause);
