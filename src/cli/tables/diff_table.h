/* SPDX-License-Identifier: MIT */
/* The options of `rec diff`. */
#pragma once

#include "cli/tables/command_spec.h"

enum {
    DIFF_BY = 1,
    DIFF_TOTAL,
    DIFF_LINES,
    DIFF_JSON,
    DIFF_THRESHOLD,
    DIFF_NOISE,
    DIFF_FAIL_ON,
    DIFF_SHORT_NAMES,
};

extern const struct command_spec diff_command;
