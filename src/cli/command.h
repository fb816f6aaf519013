/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* Whether a command could be executed, found as execvp() would: 0, or STATUS_NO_COMMAND or
 * STATUS_CANNOT_RUN with a sentence. Asked before any file is touched. */
int command_check(const char *command, struct error *error);
