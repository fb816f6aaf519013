/* SPDX-License-Identifier: MIT */
/* Paths of the places where debug info outside of its file may lie: to open the files there, and to
 * find out which files have to be fetched. */
#pragma once

#include "base/containers/buffer.h"

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
 *     <directory of the debug file>/<last component>
 *     <debug directory>/.build-id/ab/cdef….debug
 *     <debug directory>/.dwz/<last component>
 *
 * linked_from: the debug file; NULL: it is in memory. False: this place does not exist.
 */
enum { SUPPLEMENT_PLACES = 4 };
bool debug_path_of_supplement(struct buffer *path, int place, const struct supplement_link *link,
                              const char *linked_from, const char *debug_directory);

/* DW_AT_dwo_name and DW_AT_comp_dir of a skeleton unit. Borrowed. */
struct dwo_link {
    const char *name;
    const char *directory; /* "": unknown */
};

/*
 * Sets the path to one of the places where a .dwo may be, best first:
 *
 *     <name>                                          an absolute name
 *     <directory>/<name>                              a relative name
 *     <debug directory>/<one of the above>
 *     <directory of the linked file>/<directory>/<name>   both relative
 *     <directory of the linked file>/<name>               a relative name
 *     <directory of the linked file>/<last component of the name>
 *
 * False: this place does not exist.
 */
enum { DWO_PLACES = 5 };
bool debug_path_of_dwo(struct buffer *path, int place, const struct dwo_link *link,
                       const char *linked_file, const char *debug_directory);

/*
 * Sets the path to one of the places where a .dwp may be, best first:
 *
 *     <linked file>.dwp
 *     <debug file>.dwp
 *     <directory of the debug file>/<last component of the linked file>.dwp
 *     <debug directory>/<last component of the linked file>.dwp
 *
 * debug_file: NULL: none. False: this place does not exist.
 */
enum { DWP_PLACES = 4 };
bool debug_path_of_dwp(struct buffer *path, int place, const char *linked_file,
                       const char *debug_file, const char *debug_directory);
