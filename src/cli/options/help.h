/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

/* The overview of commands, with three examples, at most a screen. */
void help_print(FILE *stream);

/* The help of a command; -ENOENT: unknown command. */
int help_print_command(FILE *stream, const char *command);

void help_print_version(FILE *stream);

/* The names of the commands, NULL-terminated. */
extern const char *const help_commands[];
