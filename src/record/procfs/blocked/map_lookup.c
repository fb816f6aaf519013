/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/map_lookup.h"

#include "base/clock.h"
#include "wire/atomic.h"

static const struct process_mapping *find(const struct map_lookup *lookup, uint64_t avma)
{
    return lookup->map ? process_map_find(lookup->map, avma) : NULL;
}

/* Tables and code that were put off are read after the pause. */
static bool is_due(const struct known_module *module, uint32_t state)
{
    return state == MODULE_UNREAD ||
           (state == MODULE_NO_ROOM && monotonic_ns() >= module->pause_end_ns);
}

bool map_lookup_mapping(void *context, uint64_t pc, struct offline_mapping *out)
{
    struct map_lookup *lookup = context;
    const struct process_mapping *mapping = find(lookup, pc);
    if (!mapping)
        return false;
    struct known_module *module = mapping->module;
    *out = (struct offline_mapping){
        .start_avma = mapping->start_avma, .end_avma = mapping->end_avma, .bias = mapping->bias};
    lookup->is_put_off |= mapping->awaits_file;
    if (!module)
        return true;
    if (is_due(module, load_relaxed(&module->state)))
        module_cache_read(lookup->cache, module);
    lookup->is_put_off |= load_relaxed(&module->state) == MODULE_NO_ROOM;
    out->module = module->unwind;
    return true;
}

bool map_lookup_code(void *context, uint64_t avma, struct code_place *place)
{
    struct map_lookup *lookup = context;
    const struct process_mapping *mapping = find(lookup, avma);
    *place = (struct code_place){0};
    if (!mapping)
        return false;
    struct known_module *module = mapping->module;
    if (!module || module->is_go)
        return true;
    if (is_due(module, load_relaxed(&module->code_state)))
        module_cache_read_code(lookup->cache, module);
    lookup->is_put_off |= load_relaxed(&module->code_state) == MODULE_NO_ROOM;
    *place = (struct code_place){module->code, mapping->bias};
    return true;
}
