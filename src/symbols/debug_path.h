/* SPDX-License-Identifier: MIT */
/*
 * Where debug info lies that belongs to a build-id, as paths: for those who open it and for those who
 * only ask whether it has to be fetched.
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the path to <debug directory>/.build-id/ab/cdef….debug, terminated. False: an id of one byte or
 * less has no such file, or memory ran out. */
bool debug_path_of_build_id(struct buffer *path, const char *debug_directory, const uint8_t *id,
                            size_t id_bytes);

/*
 * Sets the path to one of the places where the file that .gnu_debuglink names may be, best first:
 *
 *     <directory of the file>/<link>
 *     <directory of the file>/.debug/<link>
 *     <debug directory>/<directory of the file>/<link>
 *
 * False: it is no name of a file, or linked_from is none.
 */
enum { DEBUGLINK_PLACES = 3 };
bool debug_path_of_debuglink(struct buffer *path, int place, const char *link,
                             const char *linked_from, const char *debug_directory);

/* What .gnu_debugaltlink says of a supplement: what dwz moved out of several files. Borrowed. */
struct supplement_link {
    const char *name;
    const uint8_t *id;
    size_t id_bytes;
};

/*
 * Sets the path to one of the places where a supplement may be, best first:
 *
 *     <link>                                          an absolute name
 *     <directory of the debug file>/<link>            else
 *     <debug directory>/.build-id/ab/cdef….debug
 *     <debug directory>/.dwz/<last component>
 *
 * linked_from: the debug file; NULL: it is in memory. False: this place does not exist.
 */
enum { SUPPLEMENT_PLACES = 3 };
bool debug_path_of_supplement(struct buffer *path, int place, const struct supplement_link *link,
                              const char *linked_from, const char *debug_directory);
