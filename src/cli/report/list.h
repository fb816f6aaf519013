/* SPDX-License-Identifier: MIT */
/* The output of `rec list`: the table of recorders as text and as JSON. */
#pragma once

#include "base/containers/buffer.h"
#include "record/recorders/recorders.h"

#include <stdbool.h>

struct list_request {
    struct record_probe probe;
    bool named[RECORDERS]; /* by row */
    bool has_names;        /* the named rows with their details, instead of all rows */
    bool json, help;
};

void list_print(const struct list_request *request); /* to standard output */
void list_json(const struct list_request *request, struct buffer *out);
