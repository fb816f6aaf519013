/* SPDX-License-Identifier: MIT */
/* The options of the commands for running processes: `rec stacks`, `rec threads`. */
#pragma once

#include "cli/tables/command_spec.h"

enum {
    SNAPSHOT_JSON = 1,
    SNAPSHOT_INTERVAL,
    SNAPSHOT_COUNT,
    SNAPSHOT_TIMEOUT,
    SNAPSHOT_STOP,
    SNAPSHOT_CORE,
    SNAPSHOT_SHORT_NAMES,
    SNAPSHOT_ALL_USER,
};

extern const struct command_spec stacks_command, threads_command, images_command;
