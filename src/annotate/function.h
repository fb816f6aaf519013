/* SPDX-License-Identifier: MIT */
/* Functions by name. */
#pragma once

#include "base/text/error.h"
#include "profile/profile.h"

#include <stdbool.h>

struct function_choice {
    bool *is_chosen; /* by index in the profile's funcs; owned */
    uint32_t first;  /* the chosen function with the most time */
};

/*
 * Chooses functions with samples of the main event by the first rule with a result:
 *
 *     the name, or the linkage name          "std::max<int>(int, int)"
 *     the name without parameters            "std::max"
 *     a part of the name of one function     "max"
 *
 * Functions of several modules or files may have the same name: all are chosen. -ENOENT: none;
 * -EINVAL: a part of several names; the message has candidates.
 */
int function_choose(struct function_choice *choice, const struct profile *profile,
                    const char *wanted, struct error *error);
void function_choice_free(struct function_choice *choice);
