/* SPDX-License-Identifier: MIT */
#include "symbols/split/split.h"

#include "base/files/io.h"
#include "symbols/files/debug_path.h"
#include "symbols/files/elf_build.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Their names when they are no split unit's, in the same order. */
static const char *const plain_names[SPLIT_SECTIONS] = {
    [SPLIT_INFO] = ".debug_info",
    [SPLIT_ABBREV] = ".debug_abbrev",
    [SPLIT_LINE] = ".debug_line",
    [SPLIT_STR] = ".debug_str",
    [SPLIT_STR_OFFSETS] = ".debug_str_offsets",
    [SPLIT_RNGLISTS] = ".debug_rnglists",
};

void splits_free(struct splits *splits)
{
    split_package_free(&splits->package);
    intern_free(splits->files);
    *splits = (struct splits){0};
}

/* For the sections of another file. */
static void clear(struct split *split)
{
    dwarf_end(split->dwarf);
    elf_handle_close(&split->handle);
    for (size_t i = 0; i < SPLIT_SECTIONS; i++)
        buffer_free(&split->sections[i]);
    *split = (struct split){.handle.fd = -1};
}

void split_close(struct split *split)
{
    if (!split)
        return;
    clear(split);
    free(split);
}

static const char *text_of(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
    Dwarf_Attribute attribute;
    const char *text = dwarf_formstring(dwarf_attr(die, name, &attribute));
    return text ? text : dwarf_formstring(dwarf_attr(die, gnu_name, &attribute));
}

static const char *dwo_name(Dwarf_Die *die)
{
    return text_of(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
}

bool split_is_skeleton(Dwarf_Die *unit)
{
    return dwarf_haschildren(unit) <= 0 && dwo_name(unit);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? value
                                                                                         : 0;
}

/* In the unit header since DWARF 5; in an attribute before. */
static uint64_t id_of(Dwarf_Die *unit)
{
    Dwarf_Half version;
    uint8_t type;
    uint64_t id = 0;
    if (dwarf_cu_info(unit->cu, &version, &type, NULL, NULL, &id, NULL, NULL) != 0)
        return 0;
    return version < 5 ? number_of(unit, DW_AT_GNU_dwo_id) : id;
}

static int read_sections(struct split *split, const struct elf_file *elf)
{
    for (size_t i = 0; i < SPLIT_SECTIONS; i++) {
        const struct elf_section *section = elf_find_section(elf, split_section_names[i]);
        int err = section ? elf_read_section(elf, section, &split->sections[i], NULL) : 0;
        if (err != 0)
            return err;
    }
    return 0;
}

/* A hostile program may name a file of its own for each unit. */
static void count_file(struct splits *splits, int fd)
{
    struct stat status;
    if (!splits->files)
        splits->files = intern_new();
    if (!splits->files || fstat(fd, &status) != 0)
        return;
    const uint64_t key[] = {status.st_dev, status.st_ino};
    uint32_t known = intern_count(splits->files);
    if (intern_add(splits->files, key, sizeof(key)) == known)
        splits->file_bytes += io_stored_bytes(&status);
}

/* Reads the sections of the file. */
static int read_file(struct splits *splits, struct split *split, const char *path)
{
    struct elf_handle file;
    struct elf_file *elf = NULL;
    int err = elf_handle_open(&file, path, NULL);
    if (err != 0)
        return err;
    count_file(splits, file.fd);
    err = elf_open_large(&elf, file.fd, NULL);
    elf_handle_close(&file);
    if (err == 0)
        err = read_sections(split, elf);
    elf_close(elf);
    return err;
}

/* Adds a section of the linked file from an offset on. */
static void add_rest(struct elf_build *build, const struct splits *splits, const char *name,
                     uint64_t offset)
{
    Elf_Scn *section = elf_handle_section(splits->handle->elf, name);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (data && data->d_buf && offset < data->d_size)
        elf_build_add(build, name, (const uint8_t *)data->d_buf + offset, data->d_size - offset);
}

/* .debug_addr and .debug_ranges begin at the unit's own base here: the base is an attribute of the
 * skeleton, which libdw does not find from this image. */
static int build_image(struct splits *splits, Dwarf_Die *skeleton, struct split *split)
{
    struct elf_build build = {0};
    if (split->sections[SPLIT_STR].size == 0)
        elf_build_add(&build, ".debug_str", splits->package.strings.bytes,
                      splits->package.strings.size);
    for (size_t i = 0; i < SPLIT_SECTIONS; i++)
        elf_build_add(&build, plain_names[i], split->sections[i].bytes, split->sections[i].size);
    uint64_t base = number_of(skeleton, DW_AT_addr_base) + number_of(skeleton, DW_AT_GNU_addr_base);
    add_rest(&build, splits, ".debug_addr", base);
    if (split->sections[SPLIT_LINE].size == 0)
        add_rest(&build, splits, ".debug_line", number_of(skeleton, DW_AT_stmt_list));
    add_rest(&build, splits, ".debug_line_str", 0);
    struct elf_build ranges = {0};
    add_rest(&ranges, splits, ".debug_ranges", number_of(skeleton, DW_AT_GNU_ranges_base));
    split->ranges = ranges.sections[0].bytes;
    split->ranges_bytes = ranges.sections[0].size;
    (void)dwarf_lowpc(skeleton, &split->base_svma);
    return elf_build_finish(&build, &split->handle);
}

/* A .dwo may hold several units (type units); the id selects. */
static int find_unit(struct split *split, uint64_t id)
{
    split->dwarf = dwarf_begin_elf(split->handle.elf, DWARF_C_READ, NULL);
    Dwarf_CU *cu = NULL;
    uint8_t type;
    while (split->dwarf &&
           dwarf_get_units(split->dwarf, cu, &cu, NULL, &type, &split->die, NULL) == 0)
        if ((type == DW_UT_split_compile || type == DW_UT_compile) && id_of(&split->die) == id)
            return 0;
    return -ENOENT;
}

/* Makes a Dwarf of the sections read, and finds the unit. */
static int open_unit(struct splits *splits, Dwarf_Die *skeleton, uint64_t id, struct split *split)
{
    int err = build_image(splits, skeleton, split);
    return err ? err : find_unit(split, id);
}

/* Files of another build, or of another source of the same name, may lie in a place: the id
 * decides. */
static int open_by_name(struct splits *splits, Dwarf_Die *skeleton, uint64_t id,
                        struct split *split)
{
    const char *directory = text_of(skeleton, DW_AT_comp_dir, DW_AT_comp_dir);
    const struct dwo_link link = {.name = dwo_name(skeleton), .directory = directory ?: ""};
    struct buffer path = {0};
    int err = -ENOENT;
    for (int place = 0; place < DWO_PLACES && err != 0; place++) {
        if (!debug_path_of_dwo(&path, place, &link, splits->places.paths[0],
                               splits->places.debug_directory))
            continue;
        clear(split);
        err = read_file(splits, split, (char *)path.bytes);
        if (err == 0)
            err = open_unit(splits, skeleton, id, split);
    }
    buffer_free(&path);
    return err;
}

struct split *split_open(struct splits *splits, Dwarf_Die *skeleton)
{
    struct split *split = splits->places.paths[0] ? calloc(1, sizeof(*split)) : NULL;
    if (!split)
        return NULL;
    split->handle.fd = -1;
    uint64_t id = id_of(skeleton);
    uint64_t package_bytes = splits->package.file_bytes;
    int err = split_package_read(&splits->package, &splits->places, id, split->sections);
    splits->file_bytes += splits->package.file_bytes - package_bytes;
    if (err == 0)
        err = open_unit(splits, skeleton, id, split);
    if (err != 0)
        err = open_by_name(splits, skeleton, id, split);
    if (err == 0)
        return split;
    split_close(split);
    return NULL;
}
