/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text/error.h"

/* Whether a command can be run: 0, or STATUS_NO_COMMAND or STATUS_CANNOT_RUN with a message,
 * perhaps with a suggestion. Call before any file is created. */
int command_check(const char *command, struct error *error);
