/* SPDX-License-Identifier: MIT */
/* An opened capture: the file, its reader, and the stored names. */
#pragma once

#include "base/text/error.h"
#include "convert/store/symbol_store.h"
#include "perfdata/reader.h"

struct capture {
    const char *name; /* in messages; borrowed */
    int fd;
    struct perfdata_reader *reader;
    struct symbol_store *store; /* NULL: none, or not usable */
    bool has_unusable_store;
};

/* name: in messages; borrowed. */
int capture_open(struct capture *capture, const char *path, const char *name, struct error *error);
void capture_close(struct capture *capture);
