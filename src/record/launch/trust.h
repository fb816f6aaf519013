/* SPDX-License-Identifier: MIT */
/*
 * Decides whether other users can replace a file. A path is trusted if the file and every directory
 * above
 *
 *     belong to root, to this user, to the owner of rec or to the owner of the root directory, and
 *     are not writable by other users. A sticky directory may be open to all: the next component
 *     can be replaced by its owner alone.
 *
 * The owner of the root directory is root, shown as another user inside an unprivileged user
 * namespace. Other unmapped users have the same id there, so a component with this id is not
 * trusted in a directory where every user can create entries, unless rec lies below.
 *
 * The group's write bit counts as open, except for group root and, for users other than root, their
 * private group: named after the user, without other members (as used with umask 002).
 */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>

/* An absolute path; symbolic links are resolved. 0, or an error with the name of the component. */
int trust_check(const char *path, struct error *error);

/* Cuts the path to the directory above; false at the root. */
bool trust_go_up(char *path);
