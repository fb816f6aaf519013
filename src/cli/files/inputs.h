/* SPDX-License-Identifier: MIT */
/* The captures of a command line, in order: operands and -i. */
#pragma once

#include "base/text/error.h"
#include "cli/tables/command_spec.h"

#include <stddef.h>

struct inputs {
    const char **paths;
    size_t count, capacity;
    char **owned; /* paths found in directories */
    size_t owned_count, owned_capacity;
};

void inputs_free(struct inputs *inputs);

/* Borrows the path. 0 or -ENOMEM. */
int inputs_add(struct inputs *inputs, const char *path, struct error *error);

/* The first path; NULL: none. */
const char *inputs_first(const struct inputs *inputs);

/* Resolves each input (input.h); an operand that is a program gets the hint of program_hint.h. A
 * directory with *.data files, as from --repeat, is replaced by the files, in the order of
 * names; perf record --threads leaves no such files in its directories. -EINVAL: a file occurs
 * twice, or a second input is a pipe. */
int inputs_resolve(struct inputs *inputs, const struct command_spec *command, struct error *error);

/* -EINVAL: a file is an input of both. */
int inputs_check_apart(const struct inputs *inputs, const struct inputs *others,
                       struct error *error);

/* The path; of several "a.data and 4 others". */
struct inputs_label {
    char text[4200];
};
struct inputs_label inputs_label(const struct inputs *inputs);

/* Prints the error of a command with these inputs; nothing if err is 0. */
void inputs_log_error(const struct inputs *inputs, int err, struct error *error);

/* The file written last. */
const char *inputs_newest(const struct inputs *inputs);
