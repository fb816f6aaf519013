/* SPDX-License-Identifier: MIT */
/* The table of commands. */
#pragma once

#include "cli/tables/command_spec.h"

enum { LIST_JSON = 1 };

extern const struct command_spec list_command, doctor_command, help_command;

/* All commands in the order of help, NULL-terminated. */
extern const struct command_spec *const command_table[];

/* The purpose of rec and the files of a recording. */
extern const char command_overview[];

struct command_example {
    const char *words, *meaning;
};
extern const struct command_example command_examples[]; /* the last one has no words */

/* NULL: no such command. */
const struct command_spec *command_find(const char *name);

/* The command with the most similar name; NULL: none is similar. */
const char *command_nearest(const char *name);
