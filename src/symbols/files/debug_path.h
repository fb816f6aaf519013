/* SPDX-License-Identifier: MIT */
/* Paths of separate debug info: the only list of places, for opening and for downloading. */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the path to <debug directory>/.build-id/ab/cdef….debug, terminated. False: an id below two
 * bytes, or out of memory. */
bool debug_path_of_build_id(struct buffer *path, const char *debug_directory, const uint8_t *id,
                            size_t id_bytes);

/*
 * Sets the path to a place of the file in .gnu_debuglink, best first:
 *
 *     <directory of the file>/<link>
 *     <directory of the file>/.debug/<link>
 *     <debug directory>/<directory of the file>/<link>
 *
 * False: not a file name, or linked_from has no directory.
 */
enum { DEBUGLINK_PLACES = 3 };
bool debug_path_of_debuglink(struct buffer *path, int place, const char *link,
                             const char *linked_from, const char *debug_directory);

/* .gnu_debugaltlink: the link to a supplement. Borrowed. */
struct supplement_link {
    const char *name;
    const uint8_t *id;
    size_t id_bytes;
};

/*
 * Sets the path to a place of a supplement, best first:
 *
 *     <link>                                          an absolute name
 *     <directory of the debug file>/<link>            else
 *     <directory of the debug file>/<last component>
 *     <debug directory>/.build-id/ab/cdef….debug
 *     <debug directory>/.dwz/<last component>
 *
 * linked_from: the debug file; NULL: in memory. False: no such place for this link.
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
 * Sets the path to a place of a .dwo, best first:
 *
 *     <name>                                          an absolute name
 *     <directory>/<name>                              a relative name
 *     <debug directory>/<one of the above>
 *     <directory of the linked file>/<directory>/<name>   both relative
 *     <directory of the linked file>/<name>               a relative name
 *     <directory of the linked file>/<last component of the name>
 *
 * False: no such place for this link.
 */
enum { DWO_PLACES = 5 };
bool debug_path_of_dwo(struct buffer *path, int place, const struct dwo_link *link,
                       const char *linked_file, const char *debug_directory);

/*
 * Sets the path to a place of a .dwp, best first:
 *
 *     <linked file>.dwp
 *     <debug file>.dwp
 *     <directory of the debug file>/<last component of the linked file>.dwp
 *     <debug directory>/<last component of the linked file>.dwp
 *
 * debug_file: NULL: none. False: no such place.
 */
enum { DWP_PLACES = 4 };
bool debug_path_of_dwp(struct buffer *path, int place, const char *linked_file,
                       const char *debug_file, const char *debug_directory);
