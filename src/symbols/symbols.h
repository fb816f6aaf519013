/* SPDX-License-Identifier: MIT */
/*
 * Address -> function, file, line and inline chain, for one module at a time. The only place that
 * includes libelf and libdw.
 *
 * Sources, best first: DWARF of the file, DWARF of its separate debug file (build-id directories and
 * .gnu_debuglink below the debug directory), .symtab, .gnu_debugdata, .dynsym. Stubs of calls into other
 * libraries are named like "memcpy@plt".
 * Not thread-safe (libdw 0.188 is not).
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
    const struct symbol_frame *frames; /* outermost first; the last one is what executes */
    size_t frame_count;                /* 0: nothing is known about this address */
    /* The machine-code symbol that holds the address. */
    const char *symbol_name; /* demangled; NULL: none */
    uint64_t symbol_svma;
    uint64_t symbol_bytes; /* 0: unknown */
};

struct symbols; /* opaque: one opened module */

/* path: the file as mapped. build_id (0 bytes: do not check): a file with another build-id is refused
 * with -ESTALE. -ENOENT, -ENOEXEC, …: no names for this module; error says what was tried. */
int symbols_open(struct symbols **out, const char *path, const uint8_t *build_id,
                 size_t build_id_bytes, const struct symbols_config *config, struct error *error);
/* The vDSO and other images that are only in memory. The bytes are copied. */
int symbols_open_memory(struct symbols **out, const void *bytes, size_t size, struct error *error);
void symbols_close(struct symbols *symbols);

/* Where the names come from: "dwarf", "symtab", "debugdata", "dynsym", "none". */
const char *symbols_source(const struct symbols *symbols);

/* Whether there is debug info, or anything at all, that could not be read; of lines and functions, those near the addresses
 * that were resolved so far. */
bool symbols_is_damaged(const struct symbols *symbols);

/* Whether the name of a function near the addresses that were resolved so far could not be read: such
 * functions are "(unnamed)". */
bool symbols_has_unnamed(const struct symbols *symbols);

/* The file that the debug info refers to and that was not found, by the name that the debug info gives;
 * NULL: none. Lives as long as `symbols`. */
const char *symbols_missing_file(const struct symbols *symbols);

/* Resolves one address (an instruction, or a return address less one). Pointers in the result live as
 * long as `symbols`; the frames array until the next call. Calling in ascending order is fastest. */
int symbols_resolve(struct symbols *symbols, uint64_t svma, struct symbol_result *result);
