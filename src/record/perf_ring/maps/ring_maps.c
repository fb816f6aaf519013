/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/maps/ring_maps.h"

#include "record/perf_ring/maps/ring_map.h"
#include "record/procfs/living_task.h"
#include "record/procfs/proc.h"
#include "record/tables/maps/map_path.h"
#include "record/tables/maps/map_pause.h"
#include "record/tables/maps/mapping_record.h"

#include <string.h>
#include <sys/mman.h>

static bool is_file(const char *path)
{
    return (path[0] == '/' && strncmp(path, "//", 2) != 0) || strcmp(path, "[vdso]") == 0;
}

static void resolve(struct ring_maps *maps, const struct ring_process *process,
                    struct process_mapping *mapping)
{
    process_mapping_resolve(mapping, maps->modules->cache, living_task_find(process->process.pid),
                            &process->process.rights);
}

static void write_record(struct ring_maps *maps, const struct ring_process *process,
                         const struct process_mapping *mapping, uint64_t time_ns)
{
    if (maps->are_for_unwinders)
        mapping_record_write_file(maps->file, process->process.pid, mapping, time_ns);
    mapping_record_write(maps->file, process->process.pid, mapping, time_ns);
}

/* Takes over the reference to the path. Files beyond the budget are not opened. */
static void enter(struct ring_maps *maps, struct ring_process *process,
                  struct process_mapping *mapping, uint64_t time_ns)
{
    mapping->is_file = is_file(mapping->path);
    bool has_room = mapping_room_take(&process->process.mapping_room, &maps->room,
                                      strlen(mapping->path), maps->round->now_ns);
    if (mapping->is_file && has_room) {
        proc_rights_lower(&process->process.rights, process->process.pid);
        resolve(maps, process, mapping);
        if (mapping->awaits_file)
            ring_process_put_off_files(process, maps->round->now_ns);
    }
    process->map_generation = ++maps->generation;
    if (ring_map_put(process->process.map, mapping) == 0 && has_room)
        write_record(maps, process, mapping, time_ns);
    else
        maps->summary->mappings_left_out++;
}

static void open_file(struct ring_maps *maps, struct ring_process *process,
                      struct process_mapping *mapping, uint64_t time_ns)
{
    if (!mapping->awaits_file)
        return;
    resolve(maps, process, mapping);
    if (mapping->module)
        write_record(maps, process, mapping, time_ns); /* the build-id */
}

void ring_maps_read_files(struct ring_maps *maps, struct ring_process *process, uint64_t time_ns)
{
    struct process_map *map = process->process.map;
    if (!map || process->files_due_ns == 0 || maps->round->now_ns < process->files_due_ns)
        return;
    process->files_due_ns = 0;
    for (size_t i = 0; i < map->count; i++)
        open_file(maps, process, &map->mappings[i], time_ns);
    /* Rules cached without the tables. Files, tables and code still missing are requested by the
     * next walk. */
    process->map_generation = ++maps->generation;
}

static bool has_room_for_map(struct ring_process *process)
{
    if (!process->process.map)
        process->process.map = ring_map_new();
    return process->process.map != NULL;
}

static void set_pause(struct ring_maps *maps, struct ring_process *process, bool was_fruitful)
{
    process->maps_pause_ns = map_pause_next_ns(process->maps_pause_ns, was_fruitful);
    process->maps_due_ns = maps->round->now_ns + process->maps_pause_ns;
}

/* Moves the path out of the list. True: the mapping is new. */
static bool enter_listed(struct ring_maps *maps, struct ring_process *process,
                         struct proc_mapping *listed, uint64_t time_ns)
{
    struct process_mapping mapping = {.start_avma = listed->start_avma,
                                      .end_avma = listed->end_avma,
                                      .file_offset = listed->file_offset,
                                      .device = listed->device,
                                      .inode = listed->inode,
                                      .path = listed->path};
    if (ring_map_has(process->process.map, &mapping))
        return false;
    listed->path = NULL;
    enter(maps, process, &mapping, time_ns);
    return true;
}

bool ring_maps_read(struct ring_maps *maps, struct ring_process *process, uint64_t time_ns)
{
    struct proc_maps list = {0};
    bool has_changed = false;
    if (maps->round->now_ns < process->maps_due_ns || !has_room_for_map(process))
        return false;
    process->has_map = true;
    if (proc_maps_read(&list, living_task_find(process->process.pid)) == 0 &&
        ring_process_is_own(process))
        for (size_t i = 0; i < list.count; i++)
            has_changed |= enter_listed(maps, process, &list.mappings[i], time_ns);
    maps->summary->mappings_left_out += list.left_out;
    proc_maps_free(&list);
    set_pause(maps, process, has_changed);
    return has_changed;
}

/* The kernel names anonymous memory "//anon", and appends " (deleted)" to a removed path. */
static const char *path_of(const char *text)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(text), suffix = sizeof(deleted) - 1;
    if (strcmp(text, "//anon") == 0)
        return map_path_new("", 0);
    if (length > suffix && strcmp(text + length - suffix, deleted) == 0)
        length -= suffix;
    return map_path_new(text, length);
}

void ring_maps_add(struct ring_maps *maps, struct ring_process *process,
                   const struct ring_record *record)
{
    struct process_mapping mapping = {.start_avma = record->start_avma,
                                      .file_offset = record->file_offset,
                                      .device = record->device,
                                      .inode = record->inode};
    bool is_code = record->protection & PROT_EXEC;
    /* A map that is yet to be read will have the mapping. */
    if (!process->has_map || !is_code || !has_room_for_map(process) ||
        __builtin_add_overflow(record->start_avma, record->bytes, &mapping.end_avma))
        return;
    mapping.path = path_of(record->text);
    if (!mapping.path)
        maps->summary->mappings_left_out++;
    else if (ring_map_has(process->process.map, &mapping))
        map_path_release(mapping.path);
    else
        enter(maps, process, &mapping, record->time_ns);
}

void ring_maps_inherit(struct ring_maps *maps, const struct ring_process *parent,
                       struct ring_process *child)
{
    child->map_generation = ++maps->generation;
    if (!parent || !parent->has_map || !parent->process.map)
        return;
    child->stack_start_avma = parent->stack_start_avma;
    child->is_stack_known = parent->is_stack_known;
    child->process.map = ring_map_copy(parent->process.map);
    child->has_map = child->process.map != NULL;
    child->files_due_ns = parent->files_due_ns;
}

void ring_maps_clear(struct ring_maps *maps, struct ring_process *process)
{
    process_map_release(process->process.map);
    process->process.map = NULL;
    process->map_generation = ++maps->generation;
    process->is_stack_known = false;
    process->has_map = true; /* MMAP2 records of the new program follow */
    process->maps_due_ns = 0;
    process->maps_pause_ns = 0;
    process->files_due_ns = 0;
}
