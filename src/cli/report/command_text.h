/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/profile.h"

/* Prints the recorded command, or the program, on a line of its own: a command line may contain a
 * whole script, so only the beginning. */
void command_text_print(const struct profile *profile);
