/* SPDX-License-Identifier: MIT */
/* Help on a terminal. */
#pragma once

#include "cli/tables/command_spec.h"

#include <stdio.h>

/* A screen: commands, examples, the common options of rec record. */
void help_print(FILE *stream);

/* A command with all options. */
void help_print_command(FILE *stream, const struct command_spec *command);

void help_print_version(FILE *stream);
