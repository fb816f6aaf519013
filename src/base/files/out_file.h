/* SPDX-License-Identifier: MIT */
/*
 * An output file that appears under its final name only when the file is complete: a new file
 * (0600) in the target directory, which out_commit() links into place. out_discard(), exit and a
 * crash leave nothing behind. A FIFO or a character device of that name is written to in place, if
 * it belongs to root, to the user of this process or to `reader`; other users must not receive the
 * content. A link of that name is replaced, never followed.
 */
#pragma once

#include "base/files/new_file.h"
#include "base/files/output_path.h"
#include "base/text/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct out_file {
    int fd;
    const char *name; /* the caller's path, for messages */
    struct output_path path;
    struct new_file file; /* unless in place */
    bool is_in_place;
};

/* Whether the file could be opened. The reader of a FIFO does not notice. */
int out_check(const char *path, uid_t reader, struct error *error);

/* `path` must live until out_commit() or out_discard(). Waits for the reader of a FIFO. */
int out_open(struct out_file *out, const char *path, uid_t reader, struct error *error);
int out_commit(struct out_file *out, struct error *error);
void out_discard(struct out_file *out);
