/* SPDX-License-Identifier: MIT */
/*
 * Keeps the maps of processes without a sampler, and writes new mappings into the file:
 *
 *     attached process, [vdso]       /proc/PID/maps, at the first sample
 *     mmap(), mprotect(), execve()   MMAP2 records of the kernel
 *     fork()                         the parent's map
 *     a walk into unmapped code      /proc/PID/maps again, after a pause
 */
#pragma once

#include "perfdata/writer.h"
#include "record/perf_ring/ring_modules.h"
#include "record/perf_ring/ring_process.h"
#include "record/perf_ring/rings/ring_record.h"
#include "record/round.h"

struct ring_maps {
    struct ring_modules *modules;
    struct perfdata_writer *file;
    struct record_summary *summary;
    const struct round *round;
    struct mapping_room room; /* of all processes together */
    uint64_t generation;      /* the latest */
    bool are_for_unwinders;   /* other readers of the file unwind */
};

/* Reads /proc/PID/maps, unless a pause is under way; new mappings get this time. True: the map has
 * changed. */
bool ring_maps_read(struct ring_maps *maps, struct ring_process *process, uint64_t time_ns);

/* Reads files that were put off for lack of time or memory, if due. */
void ring_maps_read_files(struct ring_maps *maps, struct ring_process *process, uint64_t time_ns);

/* Enters the mapping of an MMAP2 record. */
void ring_maps_add(struct ring_maps *maps, struct ring_process *process,
                   const struct ring_record *record);

/* The child of a fork() starts with its parent's map; readers of the file copy the map too. */
void ring_maps_inherit(struct ring_maps *maps, const struct ring_process *parent,
                       struct ring_process *child);

/* execve() drops all mappings. */
void ring_maps_clear(struct ring_maps *maps, struct ring_process *process);
