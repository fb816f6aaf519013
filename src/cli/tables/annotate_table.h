/* SPDX-License-Identifier: MIT */
/* The options of `rec annotate`. */
#pragma once

#include "cli/tables/command_spec.h"

enum { ANNOTATE_ASM = 1, ANNOTATE_ATT, ANNOTATE_JSON, ANNOTATE_SOURCE_DIR };

#define SOURCE_DIR_OPTION_SPEC                                                          \
    OPTION_TAKING(ANNOTATE_SOURCE_DIR, 0, "source-dir", "OLD=NEW",                      \
                  "Read sources below NEW in place of a leading OLD of their recorded " \
                  "paths; repeatable.")

extern const struct command_spec annotate_command;
