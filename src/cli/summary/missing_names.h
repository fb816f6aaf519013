/* SPDX-License-Identifier: MIT */
/* Modules without names for their functions: the share of the samples, and the remedy. */
#pragma once

#include "cli/summary/diagnostic_list.h"
#include "profile/profile.h"

/* Adds a line for each of the modules with the most weight, and one with the number of the others.
 * Modules with a reason in the notes of the conversion are left out. */
void missing_names_find(struct diagnostic_list *list, const struct profile *profile);
