/* SPDX-License-Identifier: MIT */
/* The options of `rec report` and `rec info`. */
#pragma once

#include "cli/tables/command_spec.h"

enum {
    VIEW_JSON = 1,
    VIEW_SHORT_NAMES,
    VIEW_LIFECYCLE,
    VIEW_OFF_CPU,
    VIEW_STUCK,
    VIEW_STUCK_AFTER,
    VIEW_IDLE,
    VIEW_MARKDOWN,
    VIEW_BY,
    VIEW_LINES,
    VIEW_CALLERS,
    VIEW_CALLEES,
    VIEW_PERCENT_LIMIT,
};

extern const struct command_spec report_command, info_command;
