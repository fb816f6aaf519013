/* SPDX-License-Identifier: MIT */
#include "symbols/split/split_package.h"

#include "base/containers/cursor.h"
#include "base/files/io.h"
#include "symbols/files/debug_path.h"
#include "symbols/files/elf_handle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *const split_section_names[SPLIT_SECTIONS] = {
    [SPLIT_INFO] = ".debug_info.dwo",
    [SPLIT_ABBREV] = ".debug_abbrev.dwo",
    [SPLIT_LINE] = ".debug_line.dwo",
    [SPLIT_STR] = ".debug_str.dwo",
    [SPLIT_STR_OFFSETS] = ".debug_str_offsets.dwo",
    [SPLIT_RNGLISTS] = ".debug_rnglists.dwo",
};

enum { KINDS = 9, NO_SECTION = -1 };

/* Section kinds by DW_SECT_*: version 2 is the GNU extension to DWARF 4, version 5 is DWARF 5
 * (table 7.1). */
static const int kinds_2[KINDS] = {NO_SECTION,        SPLIT_INFO, NO_SECTION,
                                   SPLIT_ABBREV,      SPLIT_LINE, NO_SECTION,
                                   SPLIT_STR_OFFSETS, NO_SECTION, NO_SECTION};
static const int kinds_5[KINDS] = {NO_SECTION,        SPLIT_INFO, NO_SECTION,
                                   SPLIT_ABBREV,      SPLIT_LINE, NO_SECTION,
                                   SPLIT_STR_OFFSETS, NO_SECTION, SPLIT_RNGLISTS};

static int read_whole(const struct elf_file *elf, const char *name, struct buffer *out)
{
    const struct elf_section *section = elf_find_section(elf, name);
    return section ? elf_read_section(elf, section, out, NULL) : -ENOENT;
}

static void open_package(struct split_package *package, const struct split_package_places *places)
{
    struct buffer path = {0};
    struct elf_handle file;
    package->was_tried = true;
    for (int place = 0; place < DWP_PLACES && !package->file; place++)
        if (debug_path_of_dwp(&path, place, places->paths[0], places->paths[1],
                              places->debug_directory) &&
            elf_handle_open(&file, (char *)path.bytes, NULL) == 0) {
            struct stat status;
            if (elf_open(&package->file, file.fd, NULL) == 0 && fstat(file.fd, &status) == 0)
                package->file_bytes = io_stored_bytes(&status);
            elf_handle_close(&file);
        }
    buffer_free(&path);
    if (package->file)
        (void)read_whole(package->file, ".debug_cu_index", &package->index);
    if (package->file)
        (void)read_whole(package->file, ".debug_str.dwo", &package->strings);
}

/* DWARF 5, 7.3.5.3:
 *
 *     version, columns, units, slots
 *     signatures  [slots]            hash table: dwo_id of the unit
 *     rows        [slots]            number of the unit's row, from 1; 0: a free slot
 *     headings    [columns]          kind of section
 *     offsets     [units][columns]
 *     sizes       [units][columns]
 *
 * Validated once against its own counts; the cursors are at its tables. */
struct index {
    const int *kinds;
    uint32_t columns, units, slots;
    struct cursor signatures, rows, headings, offsets, sizes;
};

static bool read_index(struct index *index, const struct buffer *bytes)
{
    struct cursor c = cursor_of(bytes->bytes, bytes->size);
    uint32_t version = cursor_u32(&c);
    index->kinds = version == 2 ? kinds_2 : kinds_5;
    index->columns = cursor_u32(&c);
    index->units = cursor_u32(&c);
    index->slots = cursor_u32(&c);
    if ((version != 2 && version != 5) || index->columns > KINDS)
        return false;
    index->signatures = cursor_sub(&c, (uint64_t)index->slots * 8);
    index->rows = cursor_sub(&c, (uint64_t)index->slots * 4);
    index->headings = cursor_sub(&c, (uint64_t)index->columns * 4);
    index->offsets = cursor_sub(&c, (uint64_t)index->columns * index->units * 4);
    index->sizes = cursor_sub(&c, (uint64_t)index->columns * index->units * 4);
    return !c.failed;
}

/* Counted from 1; 0: missing. A linear search, once for each unit: the chains of a damaged hash
 * table may have no end. */
static uint32_t find_row(struct index *index, uint64_t dwo_id)
{
    for (uint32_t slot = 0; slot < index->slots; slot++)
        if (cursor_u64(&index->signatures) == dwo_id) {
            cursor_seek(&index->rows, (uint64_t)slot * 4);
            uint32_t row = cursor_u32(&index->rows);
            if (row > 0 && row <= index->units)
                return row;
        }
    return 0;
}

/* The unit's part of a section of the package. */
static int read_part(const struct elf_file *elf, int kind, uint32_t offset, uint32_t size,
                     struct buffer sections[SPLIT_SECTIONS])
{
    const struct elf_section *section = elf_find_section(elf, split_section_names[kind]);
    if (!section)
        return 0;
    return elf_read_section_part(elf, section, offset, size, &sections[kind]);
}

int split_package_read(struct split_package *package, const struct split_package_places *places,
                       uint64_t dwo_id, struct buffer sections[SPLIT_SECTIONS])
{
    if (!package->was_tried)
        open_package(package, places);
    struct index index;
    if (!package->file || !read_index(&index, &package->index))
        return -ENOENT;
    uint32_t row = find_row(&index, dwo_id);
    if (row == 0)
        return -ENOENT;
    uint64_t first = (uint64_t)(row - 1) * index.columns * 4;
    cursor_seek(&index.offsets, first);
    cursor_seek(&index.sizes, first);
    int err = 0;
    for (uint32_t i = 0; i < index.columns && err == 0; i++) {
        uint32_t kind = cursor_u32(&index.headings);
        uint32_t offset = cursor_u32(&index.offsets), size = cursor_u32(&index.sizes);
        if (kind < KINDS && index.kinds[kind] != NO_SECTION &&
            sections[index.kinds[kind]].size == 0)
            err = read_part(package->file, index.kinds[kind], offset, size, sections);
    }
    return err;
}

void split_package_free(struct split_package *package)
{
    elf_close(package->file);
    buffer_free(&package->index);
    buffer_free(&package->strings);
    *package = (struct split_package){0};
}
