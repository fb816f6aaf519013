/* SPDX-License-Identifier: MIT */
/* The options of `rec report` and `rec info`. */
#pragma once

#include "cli/tables/command_spec.h"

enum { VIEW_JSON = 1, VIEW_SHORT_NAMES, VIEW_LIFECYCLE };

extern const struct command_spec report_command, info_command;
