/* SPDX-License-Identifier: MIT */
/*
 * A command with captures as input:
 *
 *     words ─▶ input_option(), -i, --help ─▶ else apply() ─▶ check() ─▶ inputs_resolve() ─▶ run()
 */
#pragma once

#include "base/text/error.h"
#include "cli/files/inputs.h"
#include "convert/options.h"

#include <stdbool.h>

struct input_request { /* the first member of the command's own request */
    struct inputs inputs;
    struct convert_options from;
    bool help;
};

struct input_command {
    const struct command_spec *spec;
    /* An option of this command, or an operand. */
    int (*apply)(struct input_request *request, int id, const char *value, struct error *error);
    /* Contradictions, after all words; NULL: none. */
    int (*check)(struct input_request *request, struct error *error);
    /* With one input at least. */
    int (*run)(struct input_request *request, struct error *error);
};

/* Without an input: CAPTURE_DEFAULT. Prints help and errors, frees the members of request. Returns
 * the exit status. */
int input_command_run(const struct input_command *command, struct input_request *request,
                      char *const *words);
