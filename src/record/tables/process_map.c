/* SPDX-License-Identifier: MIT */
#include "record/tables/process_map.h"

#include "base/containers/array.h"
#include "record/tables/map_path.h"
#include "wire/records.h"

#include <stdlib.h>

void process_map_release(struct process_map *map)
{
    if (!map || --map->users > 0)
        return;
    for (size_t i = 0; i < map->count; i++) {
        known_module_release(map->mappings[i].module);
        map_path_release(map->mappings[i].path);
    }
    free(map->mappings);
    free(map);
}

void process_map_note_jit(struct process_map *map, const struct process_mapping *mapping)
{
    if (mapping->module || mapping->start_avma >= RECORD_ADDRESSES_END)
        return;
    if (map->jit_end_avma == 0 || mapping->start_avma < map->jit_start_avma)
        map->jit_start_avma = mapping->start_avma;
    if (mapping->end_avma > map->jit_end_avma)
        map->jit_end_avma = mapping->end_avma;
}

const struct process_mapping *process_map_find(const struct process_map *map, uint64_t avma)
{
    size_t count = ARRAY_COUNT_UP_TO(map->mappings, map->count, start_avma, avma);
    const struct process_mapping *mapping = count ? &map->mappings[count - 1] : NULL;
    return mapping && avma < mapping->end_avma ? mapping : NULL;
}
