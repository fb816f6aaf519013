/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* The addresses of a profile by lib, then svma: the order in which they are resolved and stored. To be
 * freed; NULL: out of memory. */
uint32_t *resolve_order(const struct profile *profile);

/* Whether its names are kept with the capture: those of files, of the kernel, and of code
 * made at run time. */
bool resolve_is_stored(const struct profile *profile, uint32_t lib);

/* Whether a name was found, and not just the address written as a number. */
bool resolve_is_named(const struct profile *profile, const struct profile_address *address);
