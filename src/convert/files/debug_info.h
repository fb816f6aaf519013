/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/options.h"
#include "profile/profile.h"

#include <stdint.h>

/* How much debug info the file of a lib, or a separate debug file on this machine, seems to have, as it is stored:
 * headers and names of files are looked at, no contents. UINT64_MAX: in a file that only its name leads to. */
uint64_t debug_info_bytes(const struct profile *profile, uint32_t lib,
                          const struct convert_options *options);
