/* SPDX-License-Identifier: MIT */
/*
 * The directory of an output file, held by descriptor.
 *
 * rec may run as root in a directory of another user, who can replace any entry of the directory at
 * any time. A path is therefore walked once, component by component; all later work uses the held
 * directory and the last component. The walk follows a symbolic link only if no other user can have
 * placed the link: link and directory belong to root or to the user of this process, and other
 * users have no write permission for the directory, except if the directory is sticky, as /tmp is.
 * The walk refuses ".." out of a directory that another user can move, unless both directories have
 * the same owner. The last component is never followed.
 */
#pragma once

#include "base/text/error.h"

#include <sys/stat.h>

struct output_path {
    int directory;  /* O_PATH; -1: none */
    char name[256]; /* last component: neither empty, "." nor ".." */
};

/* -EISDIR: the path names no entry of a directory. On failure there is nothing to close. */
int output_path_open(struct output_path *out, const char *path, struct error *error);
void output_path_close(struct output_path *out);

/* The entry itself, not the target of a link. 0 or a negative errno. */
int output_path_stat(const struct output_path *path, struct stat *status);

/* An O_PATH descriptor of the entry itself, or a negative errno. Has no effect on a device. */
int output_path_look(const struct output_path *path, struct stat *status);

/* Opens the file of an O_PATH descriptor. Closed on exec; negative errno. */
int output_path_reopen(int fd, int flags);
