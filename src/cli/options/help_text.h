/* SPDX-License-Identifier: MIT */
/* Texts of option tables for help, manual pages, completions and documents. */
#pragma once

#include "base/containers/buffer.h"
#include "cli/options/options.h"

/* "-o, --output NAME" */
void help_text_syntax(struct buffer *out, const struct option_spec *row);

/* The help of a row, where
 *     {parameter} is the help of the recorder's parameter with the option's name, and the limits,
 *     {suffixes}  the file suffixes of each exporter,
 *     {formats}   the names of the exporters,
 *     {recorders} the ids of the recorders. */
void help_text_expand(struct buffer *out, const struct option_spec *row);

/* The words that complete a placeholder such as FORMAT, separated by spaces; none for others. */
void help_text_choices(struct buffer *out, const char *placeholder);

/* Whether a row is listed in help. A heading without a text ends the list. */
bool help_text_is_listed(const struct option_spec *row);
