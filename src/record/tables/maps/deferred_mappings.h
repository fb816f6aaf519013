/* SPDX-License-Identifier: MIT */
/*
 * Most mappings of most processes never hold a sample, and stay out of the file. The program, and
 * mappings with a meaning of their own (code generated at run time, marks of runtimes), are written
 * as the map arrives; libraries with the first sample inside:
 *
 *     process_maps_take() ─▶ deferred_mappings_add()          program, mappings of no ELF file
 *     sample_writer       ─▶ deferred_mappings_write_used()   libraries
 *
 * Collector thread only.
 */
#pragma once

#include "perfdata/writer.h"
#include "record/process/process_table.h"
#include "record/round.h"
#include "record/tables/maps/mapping_room.h"
#include "record/tables/maps/process_map.h"

#include <stddef.h>
#include <stdint.h>

struct deferred_mappings {
    struct perfdata_writer *file;
    struct record_summary *summary;
    const struct round *round;
    struct mapping_room room; /* of all processes together */
};

/* Writes or defers the new mappings of a map. No record is dated before since_ns; mappings of the
 * map before keep their records. True: there are new mappings. */
bool deferred_mappings_add(struct deferred_mappings *deferred, struct process *process,
                           struct process_map *map, uint64_t since_ns);

/* Writes the mappings around the frames of a sample, unless their records are older than the
 * sample. map: at the time of the sample; NULL: unknown. */
void deferred_mappings_write_used(struct deferred_mappings *deferred, struct process *process,
                                  struct process_map *map, const struct perfdata_sample *sample);
