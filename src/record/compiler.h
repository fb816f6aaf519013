/* SPDX-License-Identifier: MIT */
/*
 * The compiler thread: reads a process' mappings, compiles what is new, publishes the map to the
 * process, and hands the map to the collector. A thread of its own, so that a library with a million
 * rows delays neither draining nor arming.
 */
#pragma once

#include "base/error.h"
#include "record/modules.h"
#include "record/proc.h"
#include "record/session.h"
#include "unwind/offline.h"

struct image_mapping {
    uint64_t start_avma, end_avma, file_offset;
    uint64_t bias;
    uint64_t inode;
    bool is_pending; /* its module has not been looked at: while the map is being made */
    const struct known_module *module; /* NULL: anonymous memory */
    char *path;
};

/* One process' executable mappings at one time. */
struct image_map {
    uint32_t slot;    /* process slot it was made for */
    uint64_t read_ns; /* not older than this */
    uint32_t unload_count;
    uint64_t ready_ns;              /* when it was published */
    bool is_gone;                   /* the process could not be read any more */
    struct image_mapping *mappings; /* sorted */
    size_t count, capacity;
    uint64_t sampler_start_avma, sampler_end_avma; /* the sampler's own code; 0: not there */
    struct offline_mapping *offline;               /* the same for the offline unwinder */
};
void image_map_free(struct image_map *map);

struct compiler;

/* The files that are mapped go to kept, which is in use until compiler_stop(). */
int compiler_start(struct compiler **out, struct session *session, struct kept_files *kept,
                   struct error *error);
/* Ends the thread and frees all modules: maps that it handed out must be freed before. */
void compiler_stop(struct compiler *compiler);

/* Asks for a map of the process in this slot; every request is answered by one. mappings: as they were at
 * read_ns, taken over by the compiler; NULL: read them when it gets to it. */
void compiler_request(struct compiler *compiler, pid_t pid, uint32_t slot,
                      struct proc_maps *mappings, uint64_t read_ns);
/* The next finished map, or NULL; the caller owns it. */
struct image_map *compiler_take(struct compiler *compiler);

/* CPU time and rows so far; after compiler_stop() no longer. */
uint64_t compiler_cpu_ns(const struct compiler *compiler);
uint64_t compiler_rows(const struct compiler *compiler);
