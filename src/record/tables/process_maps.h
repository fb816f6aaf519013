/* SPDX-License-Identifier: MIT */
/*
 * Finished maps of the compiler: new mappings enter the file, the process gets the map, and its sampler the
 * list of modules whose rows it may use.
 *
 *     map_request ─▶ compiler thread ─▶ process_maps_take() ─▶ MMAP2 records; tables in shared memory
 */
#pragma once

#include "record/tables/compiler.h"
#include "record/sample/pending_stacks.h"
#include "record/process/process_table.h"

#include <stdbool.h>
#include <stdint.h>

struct process_maps {
    struct tables *tables; /* shared memory */
    struct process_table *processes;
    struct pending_stacks *pending;
    struct compiler *compiler;
    struct perfdata_writer *file;
    struct record_summary *summary;
    const struct round *round;
    struct mapping_room room; /* of all processes */
    uint32_t modules_read;    /* of the compiler's, at the last look */
};

/* Takes a finished map over. Samples older than it must be in pending_stacks already. */
void process_maps_take(struct process_maps *maps, struct process_map *map);

/* Tells the samplers of the rows compiled since the last call. */
void process_maps_publish_rows(struct process_maps *maps);

/* Requests maps for the samplers that wait for one before they unload a library. */
void process_maps_answer(struct process_maps *maps);

/* An empty map, before the slot's next process may look at it. */
void process_maps_clear(struct process_maps *maps, uint32_t slot);

/* The mappings of a child forked just now: its parent's. False: they are unknown, or code was unloaded
 * since they were read, so the child's have to be read. */
bool process_maps_inherit(const struct process_maps *maps, const struct process *parent,
                          struct proc_maps *mappings);
