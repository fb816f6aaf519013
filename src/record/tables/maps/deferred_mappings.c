/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/deferred_mappings.h"

#include "record/sample/synthetic.h"
#include "record/tables/maps/mapping_record.h"

#include <string.h>

static void write_record(struct deferred_mappings *deferred, struct process *process,
                         struct process_mapping *mapping, uint64_t time_ns)
{
    mapping->written_ns = time_ns;
    if (mapping_room_take(&process->mapping_room, &deferred->room, strlen(mapping->path),
                          deferred->round->now_ns))
        mapping_record_write(deferred->file, process->pid, mapping, time_ns);
    else
        deferred->summary->mappings_left_out++;
}

static const struct process_mapping *same_mapping(const struct process_map *map,
                                                  const struct process_mapping *mapping)
{
    const struct process_mapping *same = map ? process_map_find(map, mapping->start_avma) : NULL;
    bool is_same =
        same && same->start_avma == mapping->start_avma && same->end_avma == mapping->end_avma &&
        same->file_offset == mapping->file_offset && same->device == mapping->device &&
        same->inode == mapping->inode && strcmp(same->path, mapping->path) == 0 &&
        (same->module || !mapping->module); /* else with the build-id of a file put off */
    return is_same ? same : NULL;
}

/* Readers take the first file that a process maps for its program: the lowest one in memory. */
static const struct process_mapping *program_of(const struct process_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        if (map->mappings[i].module)
            return &map->mappings[i];
    return NULL;
}

bool deferred_mappings_add(struct deferred_mappings *deferred, struct process *process,
                           struct process_map *map, uint64_t since_ns)
{
    const struct process_mapping *program = program_of(map);
    bool found = false;
    for (size_t i = 0; i < map->count; i++) {
        struct process_mapping *mapping = &map->mappings[i];
        const struct process_mapping *same = same_mapping(process->map, mapping);
        mapping->since_ns = same ? same->since_ns : since_ns;
        mapping->written_ns = same ? same->written_ns : 0;
        found |= !same;
        /* The file has samples that may be inside of a new mapping. */
        bool is_due = !mapping->module || mapping == program || process->has_unmapped_frames;
        if (!same && is_due)
            write_record(deferred, process, mapping, since_ns);
    }
    process->has_unmapped_frames = false;
    map->is_deferred = true;
    return found;
}

/* Samples of other threads from the same round may be older than this one, but not older than the
 * round: hotspot discards mappings much older than the records before them. */
static uint64_t date_ns(const struct deferred_mappings *deferred,
                        const struct process_mapping *mapping, uint64_t sample_ns)
{
    uint64_t time_ns = deferred->round->last_ns;
    if (time_ns < mapping->since_ns)
        time_ns = mapping->since_ns;
    return time_ns < sample_ns ? time_ns : sample_ns;
}

static const struct process_mapping *use(struct deferred_mappings *deferred,
                                         struct process *process, struct process_map *map,
                                         uint64_t avma, uint64_t sample_ns)
{
    const struct process_mapping *found = process_map_find(map, avma);
    if (!found)
        return NULL;
    struct process_mapping *mapping = &map->mappings[found - map->mappings];
    if (mapping->written_ns == 0 || mapping->written_ns > sample_ns)
        write_record(deferred, process, mapping, date_ns(deferred, mapping, sample_ns));
    return found;
}

/* Readers look up callers at the return address or one byte before. */
void deferred_mappings_write_used(struct deferred_mappings *deferred, struct process *process,
                                  struct process_map *map, const struct perfdata_sample *sample)
{
    const struct process_mapping *inside = NULL, *before;
    if (map && !map->is_deferred)
        return;
    for (size_t i = 0; i < sample->frame_count; i++) {
        uint64_t avma = sample->frames[i];
        if (avma >= SYNTHETIC_BASE ||
            (inside && avma > inside->start_avma && avma < inside->end_avma))
            continue;
        inside = map ? use(deferred, process, map, avma, sample->time_ns) : NULL;
        before = inside;
        if (map && (!inside || avma == inside->start_avma))
            before = use(deferred, process, map, avma - 1, sample->time_ns);
        process->has_unmapped_frames |= !inside && !before;
    }
}
