/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

/* A screen: what rec is, its commands, three examples. */
void help_print(FILE *stream);

/* All that there is to say about one command; -ENOENT when there is none of that name. */
int help_print_command(FILE *stream, const char *command);

void help_print_version(FILE *stream);

/* The names of the commands, NULL-terminated. */
extern const char *const help_commands[];
