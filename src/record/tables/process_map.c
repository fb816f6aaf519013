/* SPDX-License-Identifier: MIT */
#include "record/tables/process_map.h"

#include "base/containers/array.h"
#include "record/tables/map_path.h"

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

const struct process_mapping *process_map_find(const struct process_map *map, uint64_t avma)
{
    size_t count = ARRAY_COUNT_UP_TO(map->mappings, map->count, start_avma, avma);
    const struct process_mapping *mapping = count ? &map->mappings[count - 1] : NULL;
    return mapping && avma < mapping->end_avma ? mapping : NULL;
}
