/* SPDX-License-Identifier: MIT */
/*
 * From the mappings of a process to its map: the compiler thread reads the mappings, if the job has
 * none, and finds or opens the module behind each.
 */
#pragma once

#include "record/procfs/maps/proc_maps.h"
#include "record/procfs/target_memory.h"
#include "record/tables/maps/process_map.h"

#include <sys/types.h>

struct map_job {
    struct process_map *map; /* to be filled in; NULL: no map */
    pid_t pid;
    struct target_memory *memory; /* of the process; NULL: none */
    struct rights rights;         /* of the process at its handshake; refreshed when the job runs */
    struct proc_maps mappings;    /* empty: to be read */
};

/* Fills in the map. */
void map_job_run(struct map_job *job, struct module_cache *modules);

/* Drops what the job uses, and the map unless it was taken out. */
void map_job_free(struct map_job *job);
