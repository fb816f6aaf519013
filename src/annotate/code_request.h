/* SPDX-License-Identifier: MIT */
/* The function of code.h. */
#pragma once

#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct code_request {
    const struct profile *profile; /* borrowed, like the options */
    const struct convert_options *options;
    uid_t owner; /* of the capture: a jitdump must have the same owner */
    uint32_t lib;
    uint64_t svma, bytes;
    uint32_t symbol;    /* of code generated at run time; else unused */
    bool is_open_ended; /* up to the end of the function; bytes: a lower bound */
    bool is_att;
    bool wants_lines;
};
