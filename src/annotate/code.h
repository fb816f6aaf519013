/* SPDX-License-Identifier: MIT */
/*
 * The instructions of a function, with the source line of each. The file of the function is opened
 * by path and build-id and read in a confined process (base/sandbox/workers.h):
 *
 *     bytes ─▶ instructions ─▶ targets of calls and jumps ─▶ names     "call 55e0 <place_row>"
 *                          └─▶ addresses ──────────────────▶ lines     if wanted
 *
 * Code generated at run time comes from the jitdump of the process, the vDSO's from this process.
 */
#pragma once

#include "annotate/code_request.h"
#include "base/containers/buffer.h"
#include "base/text/error.h"

#include <stddef.h>
#include <stdint.h>

struct code_line {
    uint64_t svma;
    uint32_t bytes;
    uint32_t line;    /* 0: unknown */
    const char *text; /* borrowed from the answer */
    const char *file; /* "": unknown */
};

struct code {
    const char *machine; /* "x86_64" */
    struct code_line *lines;
    size_t count, capacity;
    struct buffer answer;
};

/* 0, or a negative errno and the reason, for users. -ESTALE: not the recorded file. The process
 * must be single-threaded. */
int code_read(struct code *code, const struct code_request *request, struct error *error);
void code_free(struct code *code);
