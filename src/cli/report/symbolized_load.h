/* SPDX-License-Identifier: MIT */
/* A capture with its names, and what could not be named. */
#pragma once

#include "base/text/error.h"
#include "convert/convert.h"
#include "profile/profile.h"

#include <stdbool.h>

/* Loads and resolves. Says on a terminal that it is at work when that takes longer than a second. */
int symbolized_load(struct profile **out, const char *path, const struct convert_options *options,
                    struct error *error);

/* A function that is only known by its address ("0x1234"). */
bool symbolized_is_unnamed(const struct profile *profile, uint32_t func);

/* Makes all names of functions short ones (base/text/short_name.h). */
void symbolized_shorten(struct profile *profile);

struct unnamed_lib {
    uint32_t lib;
    uint64_t weight; /* of the main event, in its code that got no function name */
};

/* The libs with such time, most first; at most `most` of them. Returns how many. */
size_t unnamed_libs(const struct profile *profile, struct unnamed_lib *libs, size_t most);
