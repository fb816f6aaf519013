/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a profile, stored in the capture as a private feature section: a capture moved to
 * another machine, or older than changed binaries, converts to the same profile.
 *
 * The key is independent of the machine: path and build-id of a file, and svma. For equal svmas on
 * all machines, each file's executable segments are stored beside its names (see
 * module_segments.h).
 *
 *     "RECNAMES"  u32 version  u32 CRC-32 of all that follows, size (LEB128), and as a zlib
 *     stream of so many bytes, in LEB128 numbers:
 *     strings     count, {size, bytes}
 *     functions   count, {name, system name, file + 1, line}
 *     files       count, {path, build-id size and bytes, has segments, base svma,
 *                         count, segments {offset, svma, bytes},
 *                         count, addresses by svma {svma less the previous,
 *                             symbol name + 1, svma less the symbol's, symbol's bytes,
 *                             count, frames outermost first {function, file + 1, line, column}}}
 *                                 none: no name in the file
 *
 * Segments of code generated at run time (jits.h) are its pieces: {time, avma, bytes}. Names, paths
 * and source files are indices of strings. Version 1 has no size and is not compressed. With
 * another version, a wrong checksum, or an impossible index or count, the section is ignored.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"
#include "convert/files/module_segments.h"
#include "profile/profile.h"
#include "symbols/symbols.h"

#define SYMBOL_STORE_MAGIC "RECNAMES"
enum { SYMBOL_STORE_VERSION = 2, SYMBOL_STORE_PLAIN = 1, SYMBOL_STORE_HEADER_BYTES = 16 };

struct stored_address {
    uint64_t svma;
    const char *symbol_name; /* NULL: none */
    uint64_t symbol_svma, symbol_bytes;
    size_t first_frame, frame_count;
};

struct stored_lib {
    const char *path;
    uint8_t build_id[20];
    size_t build_id_bytes;
    struct module_segments segments;
    size_t first_address, address_count;
};

struct symbol_store {
    char *text; /* all strings, terminated */
    const char **strings;
    size_t string_count;
    struct symbol_frame *functions; /* without positions */
    size_t function_count;
    struct stored_lib *libs;
    size_t lib_count;
    struct stored_address *addresses;
    size_t address_count, address_capacity;
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
};

/* 0, -EBADMSG, or -ENOMEM. The bytes are not kept. */
int symbol_store_parse(struct symbol_store **out, const void *bytes, size_t size);
void symbol_store_free(struct symbol_store *store);

/* NULL: nothing is stored about this file. */
const struct stored_lib *symbol_store_find_lib(const struct symbol_store *store, const char *path,
                                               const uint8_t *build_id, size_t build_id_bytes);

/* Whether names are stored for this address; the result lives as long as `names`. */
bool symbol_store_find(const struct symbol_store *store, const struct stored_lib *lib,
                       uint64_t svma, struct symbol_result *result);
/* The same, starting at `number`, the lib's probable address number. */
bool symbol_store_find_at(const struct symbol_store *store, const struct stored_lib *lib,
                          size_t number, uint64_t svma, struct symbol_result *result);

/* Whether any stored name of the file has a line: its debug info was present. */
bool symbol_store_has_lines(const struct symbol_store *store, const struct stored_lib *lib);

/* Appends the names of a resolved profile. `before`: names stored earlier, for files since
 * removed; may be NULL. 0 or -ENOMEM. */
int symbol_store_write(const struct profile *profile, const struct symbol_store *before,
                       struct buffer *out);

/* The same, not compressed: for the way from a worker, where compression takes a tenth of the time
 * of a conversion. Without segments, which would be read from each file again. */
int symbol_store_write_plain(const struct profile *profile, struct buffer *out);
