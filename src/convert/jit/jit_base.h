/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/profile.h"

/* Sets base_svma of generated code to the page of its least address: formats and requests with
 * 32-bit addresses count from there. Called after the last address. */
void jit_bases_set(struct profile *profile);
