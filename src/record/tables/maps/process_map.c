/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/process_map.h"

#include "base/containers/array.h"
#include "record/tables/maps/map_path.h"
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

void process_mapping_resolve(struct process_mapping *mapping, struct module_cache *modules,
                             pid_t pid, const struct rights *rights)
{
    const struct mapped_file file = {.pid = pid,
                                     .path = mapping->path,
                                     .device = mapping->device,
                                     .inode = mapping->inode,
                                     .start_avma = mapping->start_avma,
                                     .end_avma = mapping->end_avma,
                                     .rights = rights};
    struct known_module *module = module_cache_get(modules, &file);
    if (!module)
        return;
    mapping->awaits_file = !module->is_opened;
    if (module->elf &&
        elf_load_bias(module->elf, mapping->start_avma, mapping->file_offset, &mapping->bias) == 0)
        mapping->module = module;
    else
        known_module_release(module);
}

void process_map_note_jit(struct process_map *map, const struct process_mapping *mapping)
{
    /* [vsyscall] lies above the user addresses. */
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
