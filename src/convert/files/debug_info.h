/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Estimated stored size of the debug info of a lib's file or separate debug file on this
 * machine, from section headers and file names only. UINT64_MAX: in a file located by name only. */
uint64_t debug_info_bytes(const struct profile *profile, uint32_t lib,
                          const struct convert_options *options);

/* Whether the debug info lies in another file than the lib's. */
bool debug_info_is_separate(const struct profile *profile, uint32_t lib,
                            const struct convert_options *options);
