/* SPDX-License-Identifier: MIT */
/* The options of `rec convert`. */
#pragma once

#include "cli/tables/command_spec.h"

enum {
    CONVERT_FORMAT = 1,
    CONVERT_EMBED_SOURCE,
    CONVERT_THREADS,
    CONVERT_SHORT_NAMES,
    CONVERT_ANNOTATE,
    CONVERT_ADDRS,
};

extern const struct command_spec convert_command;
