/* SPDX-License-Identifier: MIT */
/*
 * Two copies of a process's map in its memory let the sampler walk while the next one is written:
 *
 *     verdict.generation = g     samplers read maps[g % 2]
 *     publish()                  fills maps[(g + 1) % 2], then generation = g + 1
 *
 * A walk that began before reads the older map to its end. The rows of a replaced module may be
 * overwritten only after the next map is current, hence the order in process_maps_take().
 */
#include "record/tables/maps/process_maps.h"

#include "base/containers/array.h"
#include "record/tables/maps/map_path.h"
#include "record/tables/maps/map_pause.h"
#include "record/tables/maps/map_request.h"
#include "wire/atomic.h"

/* Reading the mappings of a process takes at most this part of a processor. */
#define COST_PARTS 10

static bool inherit(struct proc_maps *mappings, const struct proc_mapping *mapping)
{
    struct proc_mapping copy = *mapping;
    copy.path = map_path_use(mapping->path);
    if (!copy.path) {
        mappings->left_out++;
        return true;
    }
    struct proc_mapping *place =
        ARRAY_PUSH(mappings->mappings, mappings->count, mappings->capacity);
    if (place)
        *place = copy;
    else
        map_path_release(copy.path);
    return place != NULL;
}

/* For a forked child: no read of /proc, unless the parent has unloaded code since its map was
 * read. */
bool process_maps_inherit(const struct process *parent, struct proc_maps *mappings)
{
    const struct process_slot *slot = process_slot(parent);
    const struct process_map *map = parent->map;
    if (load_acquire(&slot->unload_count) != (map ? map->unload_count : 0))
        return false;
    for (size_t i = 0; !map && i < parent->first_mappings.count; i++)
        if (!inherit(mappings, &parent->first_mappings.mappings[i]))
            return false;
    for (size_t i = 0; map && i < map->count; i++) {
        const struct process_mapping *from = &map->mappings[i];
        struct proc_mapping mapping = {.start_avma = from->start_avma,
                                       .end_avma = from->end_avma,
                                       .file_offset = from->file_offset,
                                       .device = from->device,
                                       .inode = from->inode,
                                       .is_executable = true,
                                       .path = from->path};
        if (!inherit(mappings, &mapping))
            return false;
    }
    return mappings->count > 0;
}

/* The time of a mapping is unknown: the mapping is dated before the first sample pending for the
 * map. The first map was read at the start of the program; samples since the last round are
 * pending for this map. */
static uint64_t date_ns(const struct process_maps *maps, const struct process *process,
                        const struct process_map *map)
{
    uint64_t time_ns = process->map ? map->read_ns : maps->round->last_ns;
    if (!process->map && process->unmapped_ns && process->unmapped_ns <= time_ns)
        time_ns = process->unmapped_ns - 1; /* the thread's EXIT is already in the file */
    time_ns = pending_oldest_ns(maps->pending, process, time_ns);
    return time_ns > process->start_ns ? time_ns : process->start_ns;
}

static bool write_new_mappings(struct process_maps *maps, struct process *process,
                               struct process_map *map)
{
    uint64_t time_ns = date_ns(maps, process, map);
    if (!process->map)
        process->mapped_ns = time_ns;
    return deferred_mappings_add(maps->deferred, process, map, time_ns);
}

static void set_pause(struct process *process, const struct process_map *map, bool was_fruitful)
{
    uint64_t least_ns = COST_PARTS * map->cost_ns;
    process->map_pause_ns = map_pause_next_ns(process->map_pause_ns, was_fruitful);
    if (process->map_pause_ns < least_ns)
        process->map_pause_ns = least_ns;
    if (process->map_pause_ns > MAP_PAUSE_MAX_NS)
        process->map_pause_ns = MAP_PAUSE_MAX_NS;
}

/* Describes the rows of a mapping; false: unread CFI, and stacks through the mapping are copied. */
static bool describe_mapping(const struct process_mapping *mapping, struct wire_module *wire)
{
    const struct known_module *module = mapping->module;
    *wire = (struct wire_module){.start_avma = mapping->start_avma, .end_avma = mapping->end_avma};
    if (!module)
        return true;
    bool is_read = load_acquire(&module->state) == MODULE_READ;
    wire->flags = (is_read ? 0 : WIRE_MODULE_UNREAD) |
                  (module->is_searched ? (uint32_t)WIRE_MODULE_SEARCHED : 0);
    if (!is_read)
        return false;
    wire->index_first = module->index_first;
    wire->bucket_count = module->buckets.count;
    wire->bucket_shift = module->buckets.shift;
    wire->base_avma = mapping->bias + module->base_svma;
    return true;
}

static uint32_t count_described(const struct process_map *map)
{
    struct wire_module wire;
    uint32_t count = 0;
    for (size_t i = 0; i < map->count && count < SESSION_MODULES; i++)
        count += describe_mapping(&map->mappings[i], &wire);
    return count;
}

/* Fills the map not in use by samplers, and makes the filled map current. */
static void publish(struct process *process, struct process_map *map)
{
    struct process_memory *memory = process->memory->shared;
    struct process_verdict *verdict = &memory->verdict;
    uint64_t next = ++process->map_generation;
    struct wire_module *modules = memory->maps[next % 2].modules;
    uint32_t count = map->count < SESSION_MODULES ? (uint32_t)map->count : SESSION_MODULES;
    uint32_t described = 0;
    for (uint32_t i = 0; i < count; i++)
        described += describe_mapping(&map->mappings[i], &modules[i]);
    store_relaxed(&verdict->counts[next % 2], count);
    store_release(&verdict->unload_count, map->unload_count);
    store_release(&verdict->generation, next); /* publishes map and count */
    map->described_count = described;
}

/* Maps change without a new read when the CFI of a module was read meanwhile. */
void process_maps_publish_rows(struct process_maps *maps)
{
    uint32_t read = compiler_modules_read(maps->compiler);
    if (read == maps->modules_read)
        return;
    maps->modules_read = read;
    for (size_t i = 0; i < maps->processes->live_count; i++) {
        struct process *process = process_table_at(maps->processes, i);
        if (process->has_ended || !process->map ||
            count_described(process->map) == process->map->described_count)
            continue;
        publish(process, process->map);
        if (maps->summary->tables_ready_ns == 0)
            maps->summary->tables_ready_ns = monotonic_ns() - process->start_ns;
    }
}

void process_maps_take(struct process_maps *maps, struct process_map *map)
{
    struct process *process = &maps->processes->processes[map->slot];
    if (process->map_requests > 0)
        process->map_requests--;
    bool is_late =
        process->has_ended && process->waiting_count == 0; /* the pid may be reused by now */
    if (!process->in_use || map->is_gone || is_late) {
        /* Samples pending for this map are finished with the present map. */
        if (process->in_use && process->map)
            process->map->read_ns = map->read_ns;
        process_map_release(map);
        return;
    }
    set_pause(process, map, write_new_mappings(maps, process, map));
    struct process_map *before = process->map;
    size_t left_out_before = before ? before->left_out : 0;
    if (map->left_out > left_out_before)
        maps->summary->mappings_left_out += map->left_out - left_out_before;
    process->map = map;
    if (!process->has_ended)
        publish(process, map);
    process_drop_map_before(process);
    if (process->has_left)
        process->map_before = before;
    else
        process_map_release(before); /* from now on its modules' rows may be overwritten */
}

void process_maps_answer(struct process_maps *maps)
{
    for (size_t i = 0; i < maps->processes->live_count; i++) {
        struct process *process = process_table_at(maps->processes, i);
        const struct process_slot *slot = process_slot(process);
        uint32_t requested = load_acquire(&slot->unknown_requested);
        if (requested == process->unknown_answered || process->map_requests > 0)
            continue;
        map_request(maps->compiler, process, maps->round->now_ns);
        if (process->map_requests > 0)
            process->unknown_answered = requested;
    }
}
