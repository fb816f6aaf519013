/* SPDX-License-Identifier: MIT */
/*
 * The files mapped by the processes of the recording. Each is opened, read and compiled into rows
 * once, and stays cached. A build may run thousands of programs once each, so modules without users
 * are evicted, least recently used first: small modules (quickly compiled again) above a fixed
 * number of modules, all modules if the shared rows are full.
 *
 *     mapped                     opened: headers, build-id
 *     first sample               CFI read: the launcher can unwind through the module; index shared
 *     first sample in a piece    rows of the piece compiled: samplers can unwind through the piece
 *     first PC without CFI       machine code read: the launcher can search for the caller
 *
 * Most mapped libraries never get a sample, and neither does most code of a large program.
 *
 * For the compiler thread alone. Other threads receive modules: their members are constant unless
 * marked, and any thread may release a module.
 */
#pragma once

#include "record/tables/open_file_cache.h"
#include "record/tables/mapped_file.h"
#include "record/tables/row_allocator.h"
#include "unwind/code/code_image.h"
#include "unwind/module.h"
#include "unwind/rows/row_index.h"
#include "wire/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum module_state {
    MODULE_UNREAD, /* no sample needed the CFI yet */
    /* CFI read, index in shared memory (if there is CFI); rows are compiled on demand */
    MODULE_READ,
    MODULE_NO_ROOM, /* no room for the index, or out of memory; retried after a pause */
};

struct known_module {
    char *path;
    uint64_t device, inode;
    struct rights rights;         /* used to open the file */
    struct timespec changed;      /* mtime when opened */
    struct elf_file *elf;         /* NULL: not ELF; used for load biases */
    struct unwind_module *unwind; /* atomic; for the collector's unwinding; NULL: no CFI (yet) */
    bool is_searched;             /* callers are searched for in code without CFI */
    struct code_image *code;      /* for that search; NULL: not readable, or no room */
    bool is_code_read;            /* atomic; published after code */
    uint8_t build_id[20];
    size_t build_id_bytes;
    uint64_t base_svma;         /* rows are relative to this address */
    uint32_t index_first;       /* cell of the shared rows */
    struct row_buckets buckets; /* of the index; count 0: no CFI, or no room for the index */
    struct row_blocks blocks;   /* hold index and rows */
    /* atomic, enum module_state; published after all above, except rows */
    uint32_t state;
    uint32_t users;    /* atomic */
    uint64_t last_use; /* counts calls of module_cache_get() */
    /* Atomic. Set by the collector with its request for the CFI, or for the rows of a piece;
     * cleared by the compiler for lack of room: the collector may repeat the request after the
     * pause. */
    bool is_cfi_requested;
    bool is_code_requested; /* once */
    bool *is_requested;     /* by piece */
    bool *is_filled;        /* by piece: compiled with the code; the compiler's */
    uint64_t pause_end_ns;
    size_t piece_count;
    bool is_go;
    bool is_sampler;
    /* A walk ending in this range is complete: the entry function, or all of the C library (the
     * start function of threads has no name in a stripped file, and no other code of the library
     * ends a stack). */
    uint64_t root_start_svma, root_end_svma;
};

struct module_cache;

/* Files are added to open_files when they are opened. */
int module_cache_open(struct module_cache **out, struct tables *tables,
                      struct open_file_cache *open_files);
void module_cache_close(struct module_cache *store);

/* The module behind a mapping, opened if new; to be released by known_module_release(). NULL: out
 * of memory. The file never causes a failure: an unusable file becomes a module without rows. */
struct known_module *module_cache_get(struct module_cache *store, const struct mapped_file *file);
/* Adds a user. */
void known_module_use(struct known_module *module);
/* NULL is fine. */
void known_module_release(struct known_module *module);

/* Opens the held file, or the mapped file if still at its path; to be closed by elf_close(). NULL:
 * neither. */
struct elf_file *module_cache_open_file(const struct module_cache *store,
                                        const struct known_module *module);

/* Takes the module to MODULE_READ, or to MODULE_NO_ROOM. */
void module_cache_read(struct module_cache *store, struct known_module *module);
/* Reads the machine code of a module, if there is room. */
void module_cache_read_code(struct module_cache *store, struct known_module *module);
/* Compiles the rows of a piece of a MODULE_READ module, if there is room. */
void module_cache_compile(struct module_cache *store, struct known_module *module, uint32_t piece);

/* Number of compiled rows. */
uint64_t module_cache_rows(const struct module_cache *store);
/* Number of functions without rows because CFI and code disagree. */
uint64_t module_cache_cfi_conflicts(const struct module_cache *store);
