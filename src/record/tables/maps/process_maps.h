/* SPDX-License-Identifier: MIT */
/*
 * Finished maps of the compiler: new mappings enter the file or are deferred, the process gets the
 * map, and its sampler the list of modules with usable rows.
 *
 *     map_request ─▶ compiler thread ─▶ process_maps_take() ─▶ MMAP2 records; map of the sampler
 */
#pragma once

#include "record/tables/compiler.h"
#include "record/tables/maps/deferred_mappings.h"
#include "record/sample/pending_stacks.h"
#include "record/process/process_table.h"

#include <stdbool.h>
#include <stdint.h>

struct process_maps {
    struct process_table *processes;
    struct pending_stacks *pending;
    struct compiler *compiler;
    struct deferred_mappings *deferred;
    struct record_summary *summary;
    const struct round *round;
    uint32_t modules_read; /* compiler_modules_read() at the last call */
};

/* Takes a finished map over. Samples older than the map must be in pending_stacks already. */
void process_maps_take(struct process_maps *maps, struct process_map *map);

/* Publishes the rows compiled since the last call to the samplers. */
void process_maps_publish_rows(struct process_maps *maps);

/* Requests maps for processes waiting in dlclose(). */
void process_maps_answer(struct process_maps *maps);

/* Copies the parent's mappings for a child forked just now. False: they are unknown, or code was
 * unloaded since they were read; then the child's have to be read. */
bool process_maps_inherit(const struct process *parent, struct proc_maps *mappings);
