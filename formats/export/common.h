/* SPDX-License-Identifier: MIT */
/*
 * What all exporters read out of the model in the same way, so that the files of one recording
 * agree.
 *
 * Names of what has no name. After resolving every address has at least one frame; where nothing
 * was found its function is called "0x<address>". Formats that merge by name get "[libfoo.so.1]"
 * for all of these of one lib ("[unknown]" outside of every lib): thousands of one-sample functions
 * would bury the fact that a lib has no symbols. Firefox keeps the addresses: it merges by
 * function, shows the lib next to it, and its users look into the code behind an address.
 *
 * Files of lines. A function's code may come from several files (an #include inside of its body,
 * #line of a generator), but the formats know one file a function. A function with lines in two
 * files is therefore written as two functions of the same name: no line is ever shown in the wrong
 * file.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/intern.h"
#include "profile/profile.h"

#include <stdbool.h>

/* The nominal period of an event; its mean weight where the recording does not say; never 0. */
uint64_t export_period(const struct profile *profile, uint32_t event);

bool export_func_is_unknown(const struct profile *profile, uint32_t func);

/* The function's name, or its lib's in brackets. Bytes as they are in the model. */
void export_func_name(const struct profile *profile, uint32_t func, struct buffer *out);

/* The file that frame's line is in: a string or PROFILE_NONE. */
uint32_t export_frame_file(const struct profile *profile, const struct profile_frame *frame);

/* The line of the function's definition if that is in `file`, else 0. */
uint32_t export_func_line(const struct profile *profile, uint32_t func, uint32_t file);

/* The recorded program's file: an index of libs. PROFILE_NONE: none of them, the program has no
 * samples or is a script. A guess, 0 when in doubt, where the recording does not hold the program's
 * start. */
uint32_t export_main_lib(const struct profile *profile);

/*
 * The string table of an output: valid UTF-8, each text once. Two strings of the model that differ
 * in invalid bytes only are one text.
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
