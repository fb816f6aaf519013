/* SPDX-License-Identifier: MIT */
/*
 * The compiler thread. Reads the mappings of a process, opens new modules and hands the finished
 * map to the collector; on request, reads the CFI of a module and compiles the pieces with samples.
 * In a separate thread, a library with a million functions delays neither draining nor arming.
 */
#pragma once

#include "base/text/error.h"
#include "record/procfs/maps/proc_maps.h"
#include "record/procfs/target_memory.h"
#include "record/tables/modules/module_cache.h"
#include "record/tables/maps/process_map.h"
#include "record/session/session.h"
#include "unwind/offline.h"

struct compiler;

/* Mapped files are added to open_files, in use until compiler_stop(). */
int compiler_start(struct compiler **out, struct session *session,
                   struct open_file_cache *open_files, struct error *error);
/* Ends the thread and frees all modules: the caller frees all maps before. */
void compiler_stop(struct compiler *compiler);

/* The process of a map. */
struct map_target {
    pid_t pid;
    uint32_t slot;                /* in the process table */
    struct target_memory *memory; /* NULL: none; used until the map is taken */
    struct rights rights;         /* at its handshake */
};

/* Requests a map. mappings: as of read_ns, moved into the compiler; NULL: the compiler reads the
 * mappings. 0: a map will come; -ENOMEM: mappings were not moved. */
int compiler_request_map(struct compiler *compiler, const struct map_target *target,
                         struct proc_maps *mappings, uint64_t read_ns);
/* The next finished map, or NULL; the caller becomes its user. */
struct process_map *compiler_take(struct compiler *compiler);

/* Requests the CFI of a module, its machine code, or the rows of a piece of a read module. Once for
 * each, except after MODULE_NO_ROOM. 0 or -ENOMEM. */
int compiler_request_cfi(struct compiler *compiler, struct known_module *module);
int compiler_request_code(struct compiler *compiler, struct known_module *module);
int compiler_request_rows(struct compiler *compiler, struct known_module *module, uint32_t piece);
/* Number of modules with CFI or code read; a change wakes the collector. */
uint32_t compiler_modules_read(const struct compiler *compiler);

/* CPU time, rows, functions refused because of their CFI, and files without time to read, so far.
 * Not after compiler_stop(). */
uint64_t compiler_cpu_ns(const struct compiler *compiler);
uint64_t compiler_rows(const struct compiler *compiler);
uint64_t compiler_cfi_conflicts(const struct compiler *compiler);
struct left_out compiler_left_out(const struct compiler *compiler);
