/* SPDX-License-Identifier: MIT */
/*
 * The files that the recording's processes map: opened, read and compiled into rows once, kept. Of those that no
 * map uses, the ones that were not needed for the longest time go: those that are quickly compiled again when there
 * are too many, the others when their rows fill the shared memory. A build may run thousands of programs once each.
 *
 *     mapped                            opened: headers, build-id
 *     first sample                      its CFI is read: the launcher can walk through it; its index is shared
 *     first sample in a piece of it     the rows of that piece are compiled: everybody can
 *
 * Most libraries that are mapped never see a sample, and most code of a large program sees none either.
 *
 * Used by the compiler thread alone; what it hands out does not change but for what is marked, and may be let go
 * by any thread.
 */
#pragma once

#include "record/tables/open_file_cache.h"
#include "record/tables/mapped_file.h"
#include "record/tables/row_allocator.h"
#include "unwind/module.h"
#include "unwind/row_index.h"
#include "wire/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum module_state {
    MODULE_UNREAD,  /* its CFI was not needed yet */
    MODULE_READ,    /* its index is in shared memory, if it has CFI; rows as they are needed */
    MODULE_NO_ROOM, /* its index did not fit beside those in use, or memory was out: for now */
};

struct known_module {
    char *path;
    uint64_t device, inode;
    struct rights rights;         /* that the file was opened with */
    struct timespec changed;      /* when its bytes were last written */
    struct elf_file *elf;         /* NULL: not ELF; for load biases */
    struct unwind_module *unwind; /* atomic; the collector's, for stacks; NULL: no CFI (yet) */
    uint8_t build_id[20];
    size_t build_id_bytes;
    uint64_t base_svma;         /* what the rows are relative to */
    uint32_t index_first;       /* cell of the shared rows */
    struct row_buckets buckets; /* of the index; none: it has no CFI, or no room for the index */
    struct row_blocks blocks;   /* of index and rows */
    uint32_t state;             /* atomic, enum module_state; published after all above but rows */
    uint32_t users;             /* atomic */
    uint64_t last_use;          /* counts calls of module_cache_get() */
    /* Atomic. Set when the collector asks for its CFI, and for the rows of a piece; reset when there was no room,
     * and then to be asked for again when the pause is over. */
    bool is_cfi_wanted;
    bool *is_wanted; /* by piece */
    uint64_t pause_end_ns;
    size_t piece_count;
    bool is_go;
    bool is_sampler;
    /* A stack's last frame must lie here to be the root: the entry function, or all of the C library
     * (whose thread start has no name in a stripped file, but no other code of it ends a stack). */
    uint64_t root_start_svma, root_end_svma;
};

struct module_cache;

/* Files go to kept as they are opened. */
int module_cache_open(struct module_cache **out, struct tables *tables,
                      struct open_file_cache *kept);
void module_cache_close(struct module_cache *store);

/* The module behind a mapping, opened if it is new; for known_module_release(). NULL: memory is out.
 * Never fails for a strange file: that is a module without rows. */
struct known_module *module_cache_get(struct module_cache *store, const struct mapped_file *file);
/* One more who will release it. */
void known_module_use(struct known_module *module);
/* NULL is fine. */
void known_module_release(struct known_module *module);

/* Takes it to MODULE_READ, or to MODULE_NO_ROOM. */
void module_cache_read(struct module_cache *store, struct known_module *module);
/* Compiles the rows of a piece of one that is MODULE_READ, if there is room. */
void module_cache_compile(struct module_cache *store, struct known_module *module, uint32_t piece);

/* Rows that were compiled so far. */
uint64_t module_cache_rows(const struct module_cache *store);
