/* SPDX-License-Identifier: MIT */
/* Answers the offline unwinder from a process map: CFI and machine code of the mapped modules, read
 * at their first use. For the thread of the module cache. */
#pragma once

#include "record/tables/modules/module_cache.h"
#include "record/tables/maps/process_map.h"
#include "unwind/offline.h"

struct map_lookup {
    struct module_cache *cache;
    const struct process_map *map; /* NULL: nothing is mapped */
    bool is_put_off; /* an output: a file, tables or code are missing for lack of time or memory */
};

/* The callbacks of struct offline_map and struct code_map; context: a struct map_lookup. */
bool map_lookup_mapping(void *context, uint64_t pc, struct offline_mapping *out);
bool map_lookup_code(void *context, uint64_t avma, struct code_place *place);
