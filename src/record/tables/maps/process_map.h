/* SPDX-License-Identifier: MIT */
/* The executable mappings of a process at a given time, with their modules. */
#pragma once

#include "record/tables/modules/module_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_mapping {
    uint64_t start_avma, end_avma, file_offset;
    uint64_t bias;
    uint64_t device, inode;
    bool is_file;
    bool awaits_file;            /* put off for lack of time: reading_time.h */
    struct known_module *module; /* NULL: not of an ELF file, as JIT code, or no memory */
    const char *path;            /* of map_path.h */
    uint64_t since_ns;           /* its record may be dated so early, */
    uint64_t written_ns;         /* and is dated so; 0: deferred, see deferred_mappings.h */
};

struct process_map {
    uint64_t number;  /* no other map has it; 0: not from the compiler */
    uint32_t slot;    /* process slot */
    uint64_t read_ns; /* no mapping is older */
    uint32_t unload_count;
    bool is_gone;                     /* the mappings could not be read */
    bool is_deferred;                 /* mappings enter the file with samples inside */
    uint32_t users;                   /* the process, and samples pending for CFI */
    uint32_t described_count;         /* mappings with published rows */
    struct process_mapping *mappings; /* sorted by address */
    size_t count, capacity;
    size_t left_out;                               /* mappings beyond the budget */
    uint64_t cost_ns;                              /* CPU time of making the map */
    uint64_t sampler_start_avma, sampler_end_avma; /* the sampler's own code; 0: not mapped */
    uint64_t jit_start_avma, jit_end_avma; /* around all code that is in no ELF file; 0: none */
};

/* Finds or opens the module behind the mapping of a file: sets module, bias and awaits_file.
 * Without memory for a module, the mapping is as of a file other than ELF. */
void process_mapping_resolve(struct process_mapping *mapping, struct module_cache *modules,
                             pid_t pid, const struct rights *rights);

/* Widens the range of code that is in no ELF file. */
void process_map_note_jit(struct process_map *map, const struct process_mapping *mapping);

/* Drops a user; the last drop frees the map. NULL is fine. */
void process_map_release(struct process_map *map);

/* The mapping around the address, or NULL. */
const struct process_mapping *process_map_find(const struct process_map *map, uint64_t avma);
