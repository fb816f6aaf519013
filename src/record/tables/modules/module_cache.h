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
 * In a recording of root, files of other users' processes have limited time (reading_time.h):
 * without time left, opening, reading and compiling are put off.
 *
 * For the compiler thread alone.
 */
#pragma once

#include "record/tables/files/open_file_cache.h"
#include "record/tables/modules/known_module.h"
#include "record/tables/modules/reading_budget.h"
#include "wire/session.h"

#include <stdint.h>

struct module_cache;

/* Files are added to open_files when they are opened. */
int module_cache_open(struct module_cache **out, struct tables *tables,
                      struct open_file_cache *open_files);
void module_cache_close(struct module_cache *store);

/* The module behind a mapping, opened if new; to be released by known_module_release(). NULL: out
 * of memory, or of memory for the headers of all files. The file never causes a failure: an
 * unusable file becomes a module without rows. */
struct known_module *module_cache_get(struct module_cache *store, const struct mapped_file *file);

/* known_module_open_file() with the cache's held files. */
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
/* Files that were put off, so far. */
struct left_out module_cache_left_out(const struct module_cache *store);
