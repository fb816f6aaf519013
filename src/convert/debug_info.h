/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/load.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the file of a lib, or a separate debug file on this machine, seems to have debug info: headers and
 * names of files are looked at, no contents. */
bool debug_info_is_there(const struct profile *profile, uint32_t lib,
                         const struct convert_options *options);
