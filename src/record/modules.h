/* SPDX-License-Identifier: MIT */
/*
 * The files that the recording's processes map: opened, compiled into rows once, kept. Of those that no map
 * uses and that are quickly compiled again, the ones that were not needed for the longest time go when there
 * are too many: a build may run thousands of programs once each.
 *
 * Used by the compiler thread alone; what it hands out is immutable, and may be let go by any thread.
 */
#pragma once

#include "record/kept_files.h"
#include "record/mapped_file.h"
#include "unwind/module.h"
#include "wire/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct known_module {
    char *path;
    uint64_t inode;
    struct timespec changed;      /* when its bytes were last written */
    struct elf_file *elf;         /* NULL: not ELF; for load biases */
    struct unwind_module *unwind; /* NULL: no CFI known */
    uint8_t build_id[20];
    size_t build_id_bytes;
    uint64_t base_svma; /* what the rows are relative to */
    uint32_t rows_first, rows_count;
    uint32_t users;    /* atomic */
    uint64_t last_use; /* counts calls of module_store_get() */
    bool has_rows;     /* its rows are in shared memory, or it has none at all */
    bool is_go;
    bool is_sampler;
    /* A stack's last frame must lie here to be the root: the entry function, or all of the C library
     * (whose thread start has no name in a stripped file, but no other code of it ends a stack). */
    uint64_t root_start_svma, root_end_svma;
};

struct module_store;

/* Files go to kept as they are opened. */
int module_store_open(struct module_store **out, struct tables *tables, struct kept_files *kept);
void module_store_close(struct module_store *store);

/* The module behind a mapping, compiled if it is new; for known_module_release(). NULL: memory is out.
 * Never fails for a strange file: that is a module without rows. */
const struct known_module *module_store_get(struct module_store *store,
                                            const struct mapped_file *file);
/* NULL is fine. */
void known_module_release(const struct known_module *module);
/* True when it would not have to be compiled. */
bool module_store_knows(const struct module_store *store, const char *path, uint64_t inode);

uint64_t module_store_rows(const struct module_store *store);
