/* SPDX-License-Identifier: MIT */
/* Finished maps enter the file as mappings, and replace the image's older map. */
#include "record/collector_parts.h"

#include "base/array.h"
#include "wire/atomic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAUSE_MIN_NS 5000000
#define PAUSE_MAX_NS 1000000000

const struct image_mapping *map_find(const struct image_map *map, uint64_t avma)
{
    size_t count = ARRAY_COUNT_UP_TO(map->mappings, map->count, start_avma, avma);
    const struct image_mapping *mapping = count ? &map->mappings[count - 1] : NULL;
    return mapping && avma < mapping->end_avma ? mapping : NULL;
}

static bool inherit(struct proc_maps *mappings, const struct proc_mapping *mapping)
{
    struct proc_mapping *place =
        ARRAY_PUSH(mappings->mappings, mappings->count, mappings->capacity);
    if (!place)
        return false;
    *place = *mapping;
    place->path = strdup(mapping->path);
    return place->path != NULL;
}

bool maps_inherit(const struct collector *collector, const struct image *parent,
                  struct proc_maps *mappings)
{
    const struct process_slot *slot = image_slot(collector, parent);
    const struct image_map *map = parent->map;
    if (load_acquire(&slot->unload_count) != (map ? map->unload_count : 0))
        return false;
    for (size_t i = 0; !map && i < parent->first_mappings.count; i++)
        if (!inherit(mappings, &parent->first_mappings.mappings[i]))
            return false;
    for (size_t i = 0; map && i < map->count; i++) {
        const struct image_mapping *from = &map->mappings[i];
        struct proc_mapping mapping = {.start_avma = from->start_avma,
                                       .end_avma = from->end_avma,
                                       .file_offset = from->file_offset,
                                       .inode = from->inode,
                                       .is_executable = true,
                                       .path = from->path};
        if (!inherit(mappings, &mapping))
            return false;
    }
    return mappings->count > 0;
}

static void write_mapping(struct collector *collector, const struct image *image,
                          const struct image_mapping *from, uint64_t time_ns)
{
    struct perfdata_mapping mapping = {
        .pid = (uint32_t)image->pid,
        .tid = (uint32_t)image->pid,
        .time_ns = time_ns,
        .start_avma = from->start_avma,
        .bytes = from->end_avma - from->start_avma,
        .file_offset = from->file_offset,
        .protection = PROT_READ | PROT_EXEC,
        .path = from->path[0] ? from->path : "//anon",
    };
    if (from->module) {
        mapping.build_id_bytes = from->module->build_id_bytes;
        memcpy(mapping.build_id, from->module->build_id, sizeof(mapping.build_id));
    }
    perfdata_write_mapping(collector->writer, &mapping);
}

void maps_write_synthetic(struct collector *collector, const struct image *image)
{
    for (enum synthetic kind = 0; kind < SYNTHETICS; kind++) {
        struct perfdata_mapping mapping = {
            .pid = (uint32_t)image->pid,
            .tid = (uint32_t)image->pid,
            .time_ns = image->start_ns,
            .start_avma = SYNTHETIC_BASE + SYNTHETIC_BYTES * (uint64_t)kind,
            .bytes = SYNTHETIC_BYTES,
            .protection = PROT_READ | PROT_EXEC,
            .path = synthetic_name(kind),
        };
        perfdata_write_mapping(collector->writer, &mapping);
    }
}

static bool had_mapping(const struct image_map *old, const struct image_mapping *mapping)
{
    const struct image_mapping *same = old ? map_find(old, mapping->start_avma) : NULL;
    return same && same->start_avma == mapping->start_avma && same->end_avma == mapping->end_avma &&
           same->file_offset == mapping->file_offset && same->inode == mapping->inode &&
           strcmp(same->path, mapping->path) == 0;
}

/* When a mapping came is not known exactly: before the first of the samples that wait for it. The first map was read
 * when the program started, perhaps long ago; what it was needed for before the last round does wait. */
static uint64_t date_ns(const struct collector *collector, const struct image *image,
                        const struct image_map *map)
{
    uint64_t time_ns = image->map ? map->read_ns : collector->last_round_ns;
    if (!image->map && image->unmapped_ns && image->unmapped_ns <= time_ns)
        time_ns = image->unmapped_ns - 1; /* it stands behind that one in the file */
    for (size_t i = 0; i < collector->miss_count; i++) {
        const struct miss *miss = &collector->misses[i];
        if (&collector->images[miss->image] == image && !miss->map && miss->time_ns < time_ns)
            time_ns = miss->time_ns;
    }
    return time_ns > image->start_ns ? time_ns : image->start_ns;
}

static bool write_new_mappings(struct collector *collector, struct image *image,
                               const struct image_map *map)
{
    const struct image_map *old = image->map;
    uint64_t time_ns = date_ns(collector, image, map);
    if (!old)
        image->mapped_ns = time_ns;
    bool found = false;
    for (size_t i = 0; i < map->count; i++) {
        if (had_mapping(old, &map->mappings[i]))
            continue;
        write_mapping(collector, image, &map->mappings[i], time_ns);
        found = true;
    }
    return found;
}

/* A program that jumps into nowhere all the time must not make us read its map all the time. */
static void set_pause(struct image *image, bool was_fruitful)
{
    image->map_pause_ns *= 2;
    if (was_fruitful || image->map_pause_ns < PAUSE_MIN_NS)
        image->map_pause_ns = PAUSE_MIN_NS;
    if (image->map_pause_ns > PAUSE_MAX_NS)
        image->map_pause_ns = PAUSE_MAX_NS;
}

/* Where the rows of one mapping are; false: its CFI was not read yet (stacks that lead there are copied). */
static bool describe_mapping(const struct image_mapping *mapping, struct wire_module *wire)
{
    const struct known_module *module = mapping->module;
    *wire = (struct wire_module){.start_avma = mapping->start_avma, .end_avma = mapping->end_avma};
    if (!module)
        return true;
    wire->is_unread = load_acquire(&module->state) != MODULE_READ;
    if (wire->is_unread)
        return false;
    wire->index_first = module->index_first;
    wire->bucket_count = module->buckets.count;
    wire->bucket_shift = module->buckets.shift;
    wire->base_avma = mapping->bias + module->base_svma;
    return true;
}

static uint32_t count_described(const struct image_map *map)
{
    struct wire_module wire;
    uint32_t count = 0;
    for (size_t i = 0; i < map->count && count < SESSION_MODULES; i++)
        count += describe_mapping(&map->mappings[i], &wire);
    return count;
}

/* Fills the map that is not in use and makes it current. */
static void publish(struct collector *collector, struct image_map *map)
{
    struct process_verdict *verdict = &collector->session->tables->verdicts[map->slot];
    uint64_t next = verdict->generation + 1;
    struct wire_module *modules = collector->session->tables->maps[map->slot][next % 2].modules;
    uint32_t count = map->count < SESSION_MODULES ? (uint32_t)map->count : SESSION_MODULES;
    uint32_t described = 0;
    for (uint32_t i = 0; i < count; i++)
        described += describe_mapping(&map->mappings[i], &modules[i]);
    store_relaxed(&verdict->counts[next % 2], count);
    store_release(&verdict->unload_count, map->unload_count);
    store_release(&verdict->generation, next); /* publishes the map and its count */
    map->described_count = described;
}

void maps_publish_rows(struct collector *collector)
{
    uint32_t read = compiler_modules_read(collector->compiler);
    if (read == collector->modules_read)
        return;
    collector->modules_read = read;
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->has_ended || !image->map ||
            count_described(image->map) == image->map->described_count)
            continue;
        publish(collector, image->map);
        if (collector->summary->tables_ready_ns == 0)
            collector->summary->tables_ready_ns = monotonic_ns() - image->start_ns;
    }
}

static void take(struct collector *collector, struct image_map *map)
{
    struct image *image = &collector->images[map->slot];
    if (image->map_requests > 0)
        image->map_requests--;
    bool is_late =
        image->has_ended && image->waiting_count == 0; /* another may have its pid by now */
    if (!image->in_use || map->is_gone || is_late) {
        /* The misses that waited for it make do with the map that there is. */
        if (image->in_use && image->map)
            image->map->read_ns = map->read_ns;
        image_map_release(map);
        return;
    }
    set_pause(image, write_new_mappings(collector, image, map));
    struct image_map *before = image->map;
    image->map = map;
    if (!image->has_ended)
        publish(collector, map);
    image_map_release(before); /* other rows may lie in the place of its modules' from now on */
}

/* A sample belongs to the first map that is newer: later ones may have another library in the same place.
 * So what was sampled before a map is finished before the next one is taken. */
void maps_take(struct collector *collector)
{
    struct image_map *map;
    while ((map = compiler_take(collector->compiler))) {
        drain_all(collector);
        take(collector, map);
        misses_finish(collector, false);
    }
}

/* Some processes wait for it, to unload a library. */
void maps_answer(struct collector *collector)
{
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        const struct process_slot *slot = &collector->session->rings->processes[collector->live[i]];
        uint32_t wanted = load_acquire(&slot->unknown_wanted);
        if (wanted == image->unknown_answered || image->map_requests > 0)
            continue;
        image_want_map(collector, image);
        if (image->map_requests > 0)
            image->unknown_answered = wanted;
    }
}
