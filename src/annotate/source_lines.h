/* SPDX-License-Identifier: MIT */
/* A source text with the places of its lines: a listing shows lines in any order. */
#pragma once

#include "base/containers/buffer.h"

#include <stddef.h>
#include <stdint.h>

struct source_lines {
    struct buffer text; /* terminated; empty: not available */
    uint32_t *starts;   /* of each line; the last element is the start behind the last line */
    size_t count;
};

/* Finds the lines of the text, below 4 GiB. 0 or -ENOMEM. */
int source_lines_find(struct source_lines *lines);
void source_lines_free(struct source_lines *lines);

/* A line without its end; length 0 beyond. Numbers start at 1. */
const char *source_line(const struct source_lines *lines, uint32_t line, size_t *length);
