/* SPDX-License-Identifier: MIT */
/* The options of `rec record`, and of `rec` without a command's name. */
#pragma once

#include "cli/tables/command_spec.h"

enum {
    OPTION_VERSION = 1,
    OPTION_RECORD,
    OPTION_ENGINE,
    OPTION_NO_CMDLINE,
    OPTION_EMBED_SOURCE,
    OPTION_THREADS,
    OPTION_SHORT_NAMES,
    OPTION_SELF_CHECK,
    OPTION_WITHHOLD_TABLES,
    OPTION_CALL_GRAPH,
    OPTION_WAIT_ALL,
    OPTION_DURATION,
    OPTION_END_COMMAND,
    OPTION_MAX_SIZE,
    OPTION_FAIL_ON,
    OPTION_KEEP_FREE,
    OPTION_MAX_FRAMES,
    OPTION_MAX_MAPPINGS,
    OPTION_REPEAT,
    OPTION_VIEW,
    OPTION_KERNEL,
    OPTION_ALL_KERNEL,
    OPTION_KERNEL_CALLCHAINS,
    OPTION_ALL_USER,
    OPTION_RAW,
    OPTION_OFF_CPU,
    OPTION_OFF_CPU_ONLY,
    OPTION_OFF_CPU_INTERVAL,
    OPTION_STUCK_AFTER,
};

extern const struct command_spec record_command;
