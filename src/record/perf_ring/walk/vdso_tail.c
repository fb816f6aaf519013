/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/walk/vdso_tail.h"

#include "record/tables/modules/known_module.h"
#include "wire/records.h"

#include <string.h>

static const struct known_module *module_at(const struct process_map *map, uint64_t avma)
{
    const struct process_mapping *mapping = process_map_find(map, avma);
    return mapping ? mapping->module : NULL;
}

static bool is_vdso(const struct known_module *module)
{
    return module && strcmp(module->path, "[vdso]") == 0;
}

size_t vdso_tail_caller(const struct cut_walk *walk, const struct process_map *map)
{
    size_t at = 0;
    while (map && at < walk->count && is_vdso(module_at(map, walk->frames[at])))
        at++;
    if (at == 0 || at == walk->count)
        return 0;
    const struct known_module *module = module_at(map, walk->frames[at] - 1);
    return module && module->is_go ? at : 0;
}

/* The first frame of the callchain is the interrupted one: the caller is behind it. */
bool vdso_tail_append(struct cut_walk *walk, size_t caller, const uint64_t *chain,
                      size_t chain_count)
{
    size_t at = 1;
    while (at < chain_count && chain[at] != walk->frames[caller])
        at++;
    if (at + 1 >= chain_count)
        return false;
    walk->count = caller + 1;
    for (at++; at < chain_count && chain[at] < RECORD_ADDRESSES_END; at++)
        if (walk->count < walk->room)
            walk->frames[walk->count++] = chain[at];
    return true;
}
