/* SPDX-License-Identifier: MIT */
/* A function with its source files and machine code, and the time of each line and instruction. */
#pragma once

#include "annotate/code.h"
#include "annotate/function.h"
#include "annotate/source_lines.h"
#include "annotate/source_text.h"
#include "annotate/tally.h"

struct annotation_request {
    const struct profile *profile; /* borrowed, like all of the request */
    const struct convert_options *options;
    const struct source_dirs *dirs;
    const char *function;
    uid_t owner;              /* of the capture */
    size_t symbols_with_code; /* at most, those with the most time; 0: no code at all */
    bool is_att;
};

struct annotated_file {
    uint32_t file;        /* string; PROFILE_NONE: code without a line */
    size_t first, count;  /* lines of the tally */
    uint64_t self, total; /* total: an upper bound for ordering, not a sum for users */
    struct source_lines source;
    struct error error; /* why the source has no text */
};

struct annotated_symbol {
    uint32_t symbol; /* index in the profile */
    uint64_t self, total;
    struct code code;   /* no lines: not available */
    struct error error; /* why not */
};

struct annotation {
    const struct annotation_request *request;
    struct function_choice choice;
    struct tally tally;
    struct annotated_file *files; /* by decreasing time */
    size_t file_count, file_capacity;
    struct annotated_symbol *symbols; /* the same; none without wants_code */
    size_t symbol_count, symbol_capacity;
    uint32_t *symbol_of; /* by symbol of the profile: index in symbols, plus one; 0: none */
};

/* 0, or a negative errno and the reason. Code is read for one second of CPU time, and 60 ms for
 * each MiB of its file; each symbol beyond has an error. The process must be single-threaded. */
int annotation_build(struct annotation *annotation, const struct annotation_request *request,
                     struct error *error);
void annotation_free(struct annotation *annotation);
