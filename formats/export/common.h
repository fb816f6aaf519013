/* SPDX-License-Identifier: MIT */
/*
 * Rules shared by all exporters, so that the files of a recording agree.
 *
 * Unnamed code: after symbolization every address has at least one frame; a function without a
 * symbol is called "0x<address>". Formats merging by name get "[libfoo.so.1]" for all unnamed
 * functions of a lib ("[unknown]" outside of all libs): thousands of functions with a single sample
 * would hide the missing symbols. Firefox keeps the addresses: Firefox merges by function, shows
 * the lib, and links to the assembly view of an address.
 *
 * Files of lines: a function's code may come from several files (#include within the body, #line of
 * a generator), but the formats have one file per function. A function with lines in two files is
 * written as two functions of the same name: no line appears in the wrong file.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/intern.h"
#include "profile/profile.h"

#include <stdbool.h>

/* The nominal period of an event, else its mean weight; never 0. */
uint64_t export_period(const struct profile *profile, uint32_t event);

bool export_func_is_unknown(const struct profile *profile, uint32_t func);

/* The function's name, or the lib's name in brackets; the model's bytes, unescaped. */
void export_func_name(const struct profile *profile, uint32_t func, struct buffer *out);

/* The lib's path; for the program, of the executed link. */
void export_lib_path(const struct profile *profile, const struct profile_lib *lib,
                     struct buffer *out);

/* ", namespace pid 7", behind a pid (or tid) of the recording; empty for id 0. */
struct export_namespace_id {
    char text[32];
};
struct export_namespace_id export_namespace_id(const char *kind, int32_t id);

/* The file of the frame's line: a string or PROFILE_NONE. */
uint32_t export_frame_file(const struct profile *profile, const struct profile_frame *frame);

/* The line of the function's definition if in `file`, else 0. */
uint32_t export_func_line(const struct profile *profile, uint32_t func, uint32_t file);

/* The recorded program's file: an index of libs. PROFILE_NONE: none of them, the program has no
 * samples or is a script. A guess, 0 when in doubt, where the recording does not hold the program's
 * start. */
uint32_t export_main_lib(const struct profile *profile);

/*
 * The string table of an output: valid UTF-8, no duplicates. Strings of the model with differences
 * only in invalid bytes become the same text.
 */
struct text_table {
    struct intern *texts;
    struct buffer name, clean; /* scratch */
    bool failed;               /* memory ran out, ids are not to be used */
};

int text_table_open(struct text_table *table);
void text_table_close(struct text_table *table);
uint32_t text_table_add(struct text_table *table, const char *text);
/* The name by export_func_name(). */
uint32_t text_table_add_func(struct text_table *table, const struct profile *profile,
                             uint32_t func);
