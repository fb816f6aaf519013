/* SPDX-License-Identifier: MIT */
/*
 * The files that the processes of the recording map. Each is opened, read and compiled into rows
 * once, and stays cached. A build may run thousands of programs once each, so modules without users
 * are evicted, least recently used first: small ones (quickly compiled again) above a fixed number
 * of modules, any of them when the shared rows are full.
 *
 *     mapped                     opened: headers, build-id
 *     first sample               CFI read: the launcher can unwind through the module; index shared
 *     first sample in a piece    rows of the piece compiled: samplers can unwind through the piece
 *
 * Most mapped libraries never get a sample, and neither does most code of a large program.
 *
 * For the compiler thread alone. Modules are handed out to other threads: their members are
 * constant unless marked, and any thread may release them.
 */
#pragma once

#include "record/tables/open_file_cache.h"
#include "record/tables/mapped_file.h"
#include "record/tables/row_allocator.h"
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
     * cleared by the compiler if there was no room: the collector may request again after the
     * pause. */
    bool is_cfi_requested;
    bool *is_requested; /* by piece */
    uint64_t pause_end_ns;
    size_t piece_count;
    bool is_go;
    bool is_sampler;
    /* A walk that ends in this range is complete: the entry function, or all of the C library (the
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
/* Adds one user, to be released. */
void known_module_use(struct known_module *module);
/* NULL is fine. */
void known_module_release(struct known_module *module);

/* Takes the module to MODULE_READ, or to MODULE_NO_ROOM. */
void module_cache_read(struct module_cache *store, struct known_module *module);
/* Compiles the rows of a piece of a MODULE_READ module, if there is room. */
void module_cache_compile(struct module_cache *store, struct known_module *module, uint32_t piece);

/* Rows that were compiled so far. */
uint64_t module_cache_rows(const struct module_cache *store);
