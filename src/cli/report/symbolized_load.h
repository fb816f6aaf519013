/* SPDX-License-Identifier: MIT */
/* Loads a capture, resolves names, and finds modules without names. */
#pragma once

#include "base/text/error.h"
#include "cli/files/inputs.h"
#include "convert/convert.h"
#include "profile/profile.h"

#include <stdbool.h>

/* Loads and resolves. Shows progress on a terminal after a second. */
int symbolized_load(struct profile **out, const char *path, const struct convert_options *options,
                    struct error *error);

/* The same without messages about files without names: for several captures of the same files. */
int symbolized_load_silent(struct profile **out, const char *path,
                           const struct convert_options *options, struct error *error);

/* Messages about files without names; each text once for all profiles. */
void symbolized_print_unread(const struct profile *profile, struct intern *printed);

/* The sum of all inputs (profile/merge.h); of a single input: the input. Mentions an input with
 * another main event. */
int symbolized_load_all(struct profile **out, const struct inputs *inputs,
                        const struct convert_options *options, struct error *error);

/* Whether the name of a function is just an address ("0x1234"). */
bool symbolized_is_unnamed(const struct profile *profile, uint32_t func);

/* Shortens the names of all functions (base/text/short_name.h). */
void symbolized_shorten(struct profile *profile);

struct unnamed_lib {
    uint32_t lib;
    uint64_t weight;  /* of the main event, in code of the module without a function name */
    uint64_t through; /* of stacks with such code, the innermost frame included */
};

/* Modules with such weight, by decreasing weight. Returns the number, at most `most`. */
size_t unnamed_libs(const struct profile *profile, struct unnamed_lib *libs, size_t most);
