/* SPDX-License-Identifier: MIT */
/* The options of `rec view`. */
#pragma once

#include "cli/tables/command_spec.h"

enum {
    SERVE_PORT = 1,
    SERVE_ADDRESS,
    SERVE_NO_OPEN,
    SERVE_PROFILER,
    SERVE_SPEEDSCOPE,
    SERVE_PPROF,
    SERVE_HTML,
    SERVE_ATT,
    SERVE_SOURCE_DIR,
};

extern const struct command_spec view_command;
