/* SPDX-License-Identifier: MIT */
/*
 * Address -> function, file, line and inline chain, for a module at a time. The only layer with
 * libelf and libdw; docs/debug-info.md draws the border to our own readers.
 *
 * Sources, best first: DWARF of the file, DWARF of its separate debug file (build-id directories
 * and .gnu_debuglink below the debug directory), the function table of Go programs, .symtab,
 * .gnu_debugdata, .dynsym. Stubs of calls into other libraries are named like "memcpy@plt". Not
 * thread-safe (libdw 0.188 is not).
 */
#pragma once

#include "base/text/error.h"
#include "symbols/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_frame {
    const char *name;        /* demangled; never NULL in a result */
    const char *system_name; /* linkage name; the same pointer as name when not mangled */
    const char *file; /* of the executing line, or of the call into the next inner frame; or NULL */
    uint32_t line, column;       /* 0: unknown */
    const char *definition_file; /* where the function is declared; or NULL */
    uint32_t definition_line;
};

struct symbol_result {
    const struct symbol_frame *frames; /* outermost first; the last frame is executing */
    size_t frame_count;                /* 0: no information about this address */
    /* The machine-code symbol around the address. */
    const char *symbol_name; /* demangled; NULL: none */
    uint64_t symbol_svma;
    uint64_t symbol_bytes; /* 0: unknown */
};

struct symbols; /* opaque: an open module */

/* path: the file as mapped. build_id (0 bytes: unchecked): files with another build-id are refused
 * with -ESTALE. -ENOENT, -ENOEXEC, …: no names for this module; the reason is in error. */
int symbols_open(struct symbols **out, const char *path, const uint8_t *build_id,
                 size_t build_id_bytes, const struct symbols_config *config, struct error *error);
/* Of a file opened with is_needed_later: reads the symbols for these addresses, ascending, in place
 * of earlier ones; names of earlier results end. 0 or -ENOMEM. */
int symbols_need(struct symbols *symbols, const uint64_t *needed, size_t count);

/* ELF files in memory, such as the vDSO. The bytes are copied. */
int symbols_open_memory(struct symbols **out, const void *bytes, size_t size, struct error *error);
void symbols_close(struct symbols *symbols);

/* Where the names come from: "dwarf", "symtab", "debugdata", "dynsym", "none". */
const char *symbols_source(const struct symbols *symbols);

/* Whether debug info or the file is damaged; line tables and functions are checked near the
 * addresses resolved so far. */
bool symbols_is_damaged(const struct symbols *symbols);
/* Whether debug info was left out to limit the reading time. */
bool symbols_is_cut(const struct symbols *symbols);
/* What the file took of the time in reserve. */
uint64_t symbols_taken_ns(const struct symbols *symbols);

/* Whether the name of a function near the addresses resolved so far is unreadable: such functions
 * are "(unnamed)". */
bool symbols_has_unnamed(const struct symbols *symbols);

/* Name of a supplement that the debug info refers to and that is missing; NULL: none. Valid until
 * symbols_close(). */
const char *symbols_missing_file(const struct symbols *symbols);

/* Resolves an address (of an instruction, or a return address less one). Pointers in the result are
 * valid until symbols_close(), the frames array until the next call. Ascending order is fastest. */
int symbols_resolve(struct symbols *symbols, uint64_t svma, struct symbol_result *result);
