/* SPDX-License-Identifier: MIT */
/*
 * From the mappings of a core file to a map with modules. Two sources, as no core has all:
 *
 *     NT_FILE note    every mapped file, by path    add_file(): code by the segments of the file,
 *                                                   or by the flags in the core
 *     PT_LOAD with X  code in no file: the vDSO,    add_anonymous()
 *                     code made at run time
 *
 * A file at the path may be another build by now; the head of the mapped file is in the core, and
 * its build-id decides.
 */
#include "record/attach/core/core_map.h"

#include "base/containers/array.h"
#include "base/text/path_name.h"
#include "record/perf_ring/maps/ring_map.h"
#include "record/tables/maps/map_path.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Kernels dump the first page of each mapped file (core(5), coredump_filter bit 4). */
#define HEAD_BYTES 4096

/* The first mapping of a file is at most so many mappings before the others. */
#define NEAR_MAPPINGS 16

struct mapping_builder {
    struct process_map *map;
    struct ring_modules *modules;
    const struct core_memory *memory;
    const struct core_notes *notes;
    const char *executable, *executable_in_core; /* NULL: unknown */
};

static const struct core_mapping *mapping_at(const struct core_notes *notes, uint64_t avma)
{
    size_t index = ARRAY_COUNT_UP_TO(notes->mappings, notes->mapping_count, start_avma, avma);
    return index > 0 && avma < notes->mappings[index - 1].end_avma ? &notes->mappings[index - 1]
                                                                   : NULL;
}

/* The mapping of a file's first byte, up to this mapping; NULL: none near. */
static const struct core_mapping *head_of(const struct core_notes *notes,
                                          const struct core_mapping *mapping)
{
    for (const struct core_mapping *head = mapping;
         head >= notes->mappings && mapping - head < NEAR_MAPPINGS; head--)
        if (head->file_offset == 0 && strcmp(head->path, mapping->path) == 0)
            return head;
    return NULL;
}

/* Whether the memory of the core has the head of another build of the file. */
static bool is_of_other_build(const struct mapping_builder *builder,
                              const struct core_mapping *mapping, const struct known_module *module)
{
    uint8_t bytes[HEAD_BYTES], build_id[20];
    struct elf_file *elf;
    const struct core_mapping *head = head_of(builder->notes, mapping);
    if (!head ||
        !core_segments_read(builder->memory->segments, builder->memory->fd, head->start_avma, bytes,
                            sizeof(bytes)) ||
        elf_open_memory(&elf, bytes, sizeof(bytes), NULL) != 0)
        return false;
    size_t build_id_bytes = elf_build_id(elf, build_id);
    elf_close(elf);
    return build_id_bytes && module->build_id_bytes &&
           (build_id_bytes != module->build_id_bytes ||
            memcmp(build_id, module->build_id, build_id_bytes) != 0);
}

/* A name in brackets is no file for the conversion. */
static int replace_path(struct process_mapping *mapping)
{
    char name[512];
    snprintf(name, sizeof(name), "[%.400s of another build]", path_name(mapping->path));
    const char *path = map_path_new(name, strlen(name));
    if (!path)
        return -ENOMEM;
    map_path_release(mapping->path);
    mapping->path = path;
    mapping->is_file = false;
    return 0;
}

static struct known_module *open_module(const struct mapping_builder *builder,
                                        const struct process_mapping *mapping)
{
    static const struct rights own = {.uid = 0};
    const struct rights *reader = rights_reader(); /* the caller of sudo */
    struct stat status = {.st_ino = 0};
    if (mapping->path[0] == '/' && stat(mapping->path, &status) != 0)
        return NULL;
    const struct mapped_file file = {.path = mapping->path,
                                     .device = status.st_dev,
                                     .inode = status.st_ino,
                                     .start_avma = mapping->start_avma,
                                     .end_avma = mapping->end_avma,
                                     .rights = reader ? reader : &own};
    return module_cache_get(builder->modules->cache, &file);
}

/* in_core: NULL for the vDSO. */
static int resolve(const struct mapping_builder *builder, struct process_mapping *mapping,
                   const struct core_mapping *in_core)
{
    struct known_module *module = open_module(builder, mapping);
    if (!module)
        return 0;
    bool is_other = in_core && is_of_other_build(builder, in_core, module);
    if (!is_other && module->elf &&
        elf_load_bias(module->elf, mapping->start_avma, mapping->file_offset, &mapping->bias) == 0)
        mapping->module = module;
    else
        known_module_release(module);
    return is_other ? replace_path(mapping) : 0;
}

static const char *path_of(const struct mapping_builder *builder,
                           const struct core_mapping *mapping)
{
    const char *in_core = builder->executable_in_core;
    bool is_executable = builder->executable && in_core && strcmp(mapping->path, in_core) == 0;
    return is_executable ? builder->executable : mapping->path;
}

static bool is_dumped_as_code(const struct core_segments *segments, uint64_t start_avma)
{
    const struct elf_segment *segment = core_segments_find(segments, start_avma);
    return segment && segment->svma == start_avma && (segment->flags & PF_X);
}

/* Tools such as gcore leave unchanged code out of the core: the segments of the file say which
 * mappings are code. */
static int add_file(const struct mapping_builder *builder, const struct core_mapping *from)
{
    const char *path = path_of(builder, from);
    struct process_mapping mapping = {.start_avma = from->start_avma,
                                      .end_avma = from->end_avma,
                                      .file_offset = from->file_offset,
                                      .is_file = true,
                                      .path = map_path_new(path, strlen(path))};
    if (!mapping.path)
        return -ENOMEM;
    int err = resolve(builder, &mapping, from);
    if (!err && (mapping.module || is_dumped_as_code(builder->memory->segments, from->start_avma)))
        return ring_map_put(builder->map, &mapping);
    known_module_release(mapping.module);
    map_path_release(mapping.path);
    return err;
}

/* The vDSO, and code generated at run time. */
static int add_anonymous(const struct mapping_builder *builder, const struct elf_segment *segment)
{
    bool is_vdso = builder->notes->vdso_avma && segment->svma == builder->notes->vdso_avma;
    const char *path = is_vdso ? "[vdso]" : "";
    struct process_mapping mapping = {.start_avma = segment->svma, .is_file = is_vdso};
    if (__builtin_add_overflow(segment->svma, segment->memory_bytes, &mapping.end_avma) ||
        mapping.end_avma <= mapping.start_avma || mapping_at(builder->notes, segment->svma))
        return 0;
    mapping.path = map_path_new(path, strlen(path));
    if (!mapping.path)
        return -ENOMEM;
    int err = is_vdso ? resolve(builder, &mapping, NULL) : 0;
    return err ? err : ring_map_put(builder->map, &mapping);
}

static int add_all(const struct mapping_builder *builder)
{
    const struct core_notes *notes = builder->notes;
    const struct core_segments *segments = builder->memory->segments;
    int err = 0;
    for (size_t i = 0; i < notes->mapping_count && err == 0; i++)
        err = add_file(builder, &notes->mappings[i]);
    for (size_t i = 0; i < segments->count && err == 0; i++)
        if (segments->items[i].flags & PF_X)
            err = add_anonymous(builder, &segments->items[i]);
    return err == -E2BIG ? 0 : err; /* code beyond the budget of mappings has no names */
}

int core_map_read(struct process_map **map, struct ring_modules *modules,
                  const struct core_memory *memory, const struct core_notes *notes,
                  const char *executable)
{
    const struct core_mapping *entry = mapping_at(notes, notes->entry_avma);
    struct mapping_builder builder = {.map = ring_map_new(),
                                      .modules = modules,
                                      .memory = memory,
                                      .notes = notes,
                                      .executable = executable,
                                      .executable_in_core = entry ? entry->path : NULL};
    int err = builder.map ? add_all(&builder) : -ENOMEM;
    if (err)
        process_map_release(builder.map);
    *map = err ? NULL : builder.map;
    return err;
}
