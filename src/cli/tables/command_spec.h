/* SPDX-License-Identifier: MIT */
/* A command of rec as a table row: the source of help texts, manual pages, completions and
 * docs/command-line.md. */
#pragma once

#include "cli/options/options.h"

struct command_spec {
    const char *name;
    const char *synopsis;    /* without "rec" */
    const char *summary;     /* a few words */
    const char *description; /* paragraphs, separated by an empty line */
    const char *operand;     /* placeholder of the operands, as in option_spec; NULL: no operands */
    const struct option_spec *options;
    const char *exit_status; /* a paragraph; NULL: 0 or 125 */
};
