/* SPDX-License-Identifier: MIT */
/*
 * Which files can be replaced by other users. A path is trusted if its file and every directory
 * above
 *
 *     belong to root, to this user, to the owner of rec or to the owner of the root directory, and
 *     can be written by no other user. A sticky directory may be open to all: the next component
 *     can be replaced by its owner alone.
 *
 * The owner of the root directory is root, whom an unprivileged user namespace shows as another
 * user.
 *
 * The group's write bit counts as open, but for group root and, for users other than root, their
 * private group: named after the user, without other members (umask 002 goes with it).
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* An absolute path; its links are resolved. 0, or the error that names the component. */
int trust_check(const char *path, struct error *error);

/* The directory above, in place; false at the root. */
bool trust_go_up(char *path);
