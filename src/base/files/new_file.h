/* SPDX-License-Identifier: MIT */
/*
 * A new file in a directory that is held by descriptor: 0600, and without a name until
 * new_file_link() or new_file_replace(). File systems without unnamed files (O_TMPFILE) get a
 * random temporary name.
 */
#pragma once

struct new_file {
    int fd;
    int directory;      /* of the caller */
    char temporary[32]; /* empty: no such name exists */
};

/* access: O_WRONLY or O_RDWR. All return 0 or a negative errno. */
int new_file_create(struct new_file *file, int directory, int access);

/* -EEXIST: another file has that name. */
int new_file_link(struct new_file *file, const char *name);

/* Replaces a file or a link of that name. */
int new_file_replace(struct new_file *file, const char *name);

/* Removes the temporary name, if there is one. The descriptor stays open. */
void new_file_unname(struct new_file *file);
