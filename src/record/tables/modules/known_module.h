/* SPDX-License-Identifier: MIT */
/*
 * A mapped file with the facts read from the file, as kept by the module cache. For the compiler
 * thread alone. Other threads receive modules: the members are constant unless marked, and any
 * thread may release a module.
 */
#pragma once

#include "record/tables/files/mapped_file.h"
#include "record/tables/files/open_file_cache.h"
#include "record/tables/modules/row_allocator.h"
#include "unwind/code/code_image.h"
#include "unwind/module.h"
#include "unwind/rows/row_index.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum module_state {
    MODULE_UNREAD, /* no sample needed the CFI yet */
    /* CFI read, index in shared memory (if there is CFI); rows are compiled on demand */
    MODULE_READ,
    MODULE_NO_ROOM, /* no room for the index, no memory or no time; retried after a pause */
};

struct known_module {
    struct known_module *next; /* module_set.h */
    char *path;
    uint64_t device, inode;
    struct rights rights;         /* used to open the file */
    struct timespec changed;      /* mtime when opened */
    struct elf_file *elf;         /* NULL: not ELF, or no room; used for load biases */
    struct unwind_module *unwind; /* atomic; for the collector's unwinding; NULL: no CFI (yet) */
    bool is_searched;             /* callers are searched for in code without CFI */
    struct code_image *code;      /* for that search; NULL: not readable, or no room */
    uint32_t code_state;          /* as state; published after code */
    uint8_t build_id[20];
    size_t build_id_bytes;
    uint64_t base_svma;         /* rows are relative to this address */
    uint32_t index_first;       /* cell of the shared rows */
    struct row_buckets buckets; /* of the index; count 0: no CFI, or no room for the index */
    struct row_blocks blocks;   /* hold index and rows */
    /* atomic, enum module_state; published after all above, except rows */
    uint32_t state;
    uint32_t users;    /* atomic */
    uint64_t last_use; /* counts uses of all modules */
    /* Atomic. Set by the collector with its request for the CFI, or for the rows of a piece;
     * cleared by the compiler for lack of room: the collector may repeat the request after the
     * pause. */
    bool is_cfi_requested;
    bool is_code_requested;
    bool *is_requested; /* by piece */
    bool *is_filled;    /* by piece: compiled with the code; the compiler's */
    uint64_t pause_end_ns;
    size_t piece_count;
    uid_t payers[2];      /* users that pay the time: the first one, and another one if any */
    bool is_opened;       /* else it waits for time: reading_time.h */
    size_t held_bytes[2]; /* counted in the limits of reading_budget.h */
    bool is_go;
    bool is_sampler;
    /* A walk ending in this range is complete: the entry function, or all of the C library (the
     * start function of threads has no name in a stripped file, and no other code of the library
     * ends a stack). */
    uint64_t root_start_svma, root_end_svma;
};

/* Reads headers, build-id and root, and holds the file for the symbolizer; module->elf is NULL for
 * an unusable file. Returns whether the file can be opened later by its build-id. */
bool known_module_open(struct known_module *module, const struct mapped_file *file,
                       struct open_file_cache *open_files);
/* Bytes of memory for the module alone, and for the headers of its file. */
size_t known_module_bytes(const char *path);
size_t known_module_header_bytes(const struct known_module *module);
/* Without the module's blocks. */
void known_module_free(struct known_module *module);

/* Opens the held file, or the mapped file if still at its path; to be closed by elf_close(). NULL:
 * neither. */
struct elf_file *known_module_open_file(const struct known_module *module,
                                        struct open_file_cache *open_files);
/* Publishes module->unwind. room: of its rules; 0, or a negative errno; -E2BIG: more than
 * bytes_max. */
int known_module_read_cfi(struct known_module *module, const struct elf_file *elf,
                          uint64_t bytes_max, struct row_room *room);
/* By CFI, or by code without CFI. */
bool known_module_has_rows(const struct known_module *module);

/* A file can be rewritten in place, as cp does, with the same path and inode. */
bool known_module_is_current(const struct known_module *module);
/* A file closed to one user may be open to another user. */
bool known_module_is_of(const struct known_module *module, const struct mapped_file *file);

/* Adds a user. */
void known_module_use(struct known_module *module);
/* NULL is fine. */
void known_module_release(struct known_module *module);
