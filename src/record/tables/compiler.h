/* SPDX-License-Identifier: MIT */
/*
 * The compiler thread: reads a process' mappings, opens what is new, and hands the map to the collector; reads the
 * modules and compiles the pieces of which the collector says that samples lie in them. A thread of its own, so that a
 * library with a million functions delays neither draining nor arming.
 */
#pragma once

#include "base/error.h"
#include "record/tables/module_cache.h"
#include "record/process/proc_maps.h"
#include "record/tables/process_map.h"
#include "record/session.h"
#include "unwind/offline.h"

struct compiler;

/* The files that are mapped go to kept, which is in use until compiler_stop(). */
int compiler_start(struct compiler **out, struct session *session, struct open_file_cache *kept,
                   struct error *error);
/* Ends the thread and frees all modules: maps that it handed out must be freed before. */
void compiler_stop(struct compiler *compiler);

/* Requests a map of the process in this slot. rights: of the process at its handshake. mappings: as they were at
 * read_ns, moved into the compiler; NULL: the compiler reads them. 0: a map will come; -ENOMEM: nothing was taken. */
int compiler_request(struct compiler *compiler, pid_t pid, uint32_t slot,
                     const struct rights *rights, struct proc_maps *mappings, uint64_t read_ns);
/* The next finished map, or NULL; the caller is its user. */
struct process_map *compiler_take(struct compiler *compiler);

/* Asks for the CFI of a module, or the rows of a piece of one that has been read. Not twice for the same, unless it
 * found no room. 0 or -ENOMEM. */
int compiler_want_cfi(struct compiler *compiler, struct known_module *module);
int compiler_want_rows(struct compiler *compiler, struct known_module *module, uint32_t piece);
/* How many modules were read; rings the doorbell when it changes. */
uint32_t compiler_modules_read(const struct compiler *compiler);

/* CPU time and rows so far; after compiler_stop() no longer. */
uint64_t compiler_cpu_ns(const struct compiler *compiler);
uint64_t compiler_rows(const struct compiler *compiler);
