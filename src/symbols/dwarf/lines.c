/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/lines.h"

#include "base/containers/array.h"
#include "symbols/files/elf_handle.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lines_init(struct lines *lines)
{
    lines->keys = intern_new();
    return lines->keys ? 0 : -ENOMEM;
}

static void table_free(struct line_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->file_count; i++)
        free(table->files[i].path);
    free(table->directories);
    free(table->files);
    free(table->rows);
    free(table);
}

void lines_free(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        table_free(lines->tables[i]);
    free(lines->tables);
    intern_free(lines->keys);
    *lines = (struct lines){0};
}

static struct cursor content(Elf *elf, const char *name)
{
    Elf_Scn *section = elf_handle_debug_section(elf, name);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    const char *identity = elf_getident(elf, NULL);
    struct cursor c =
        data && data->d_buf ? cursor_of(data->d_buf, data->d_size) : (struct cursor){0};
    /* A file of another byte order: libdw swaps what it reads itself. */
    c.swapped =
        identity && (identity[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return c;
}

/* NULL: a split unit, which has no lines; or more files of debug info than places, which does not
 * occur. */
static const struct line_sections *sections_of(struct lines *lines, Dwarf *dwarf)
{
    for (size_t i = 0; i < lines->section_count; i++)
        if (lines->sections[i].dwarf == dwarf)
            return &lines->sections[i];
    Elf *elf = dwarf_getelf(dwarf);
    if (!elf || lines->section_count == sizeof(lines->sections) / sizeof(lines->sections[0]))
        return NULL;
    struct line_sections found = {.dwarf = dwarf, .line = content(elf, "line")};
    if (found.line.size == 0)
        return NULL;
    found.line_str = content(elf, "line_str");
    found.str = content(elf, "str");
    lines->sections[lines->section_count] = found;
    return &lines->sections[lines->section_count++];
}

static struct line_table *read_table(struct lines *lines, const struct line_sections *sections,
                                     Dwarf_Die *unit, uint64_t offset)
{
    Dwarf_Attribute directory;
    struct line_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    int err = line_header_read(table, sections, offset,
                               dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &directory)));
    table->clock = lines->clock;
    if (err == 0)
        return table;
    lines->is_damaged |= err == -EBADMSG;
    table_free(table);
    return NULL;
}

/* Units may share a table: each is read once. */
struct line_table *lines_of(struct lines *lines, Dwarf_Die *unit)
{
    Dwarf_Attribute list;
    Dwarf_Word offset;
    const struct line_sections *sections = sections_of(lines, dwarf_cu_getdwarf(unit->cu));
    if (!sections || !dwarf_attr(unit, DW_AT_stmt_list, &list) ||
        dwarf_formudata(&list, &offset) != 0)
        return NULL;
    const uint64_t key[] = {(uint64_t)(sections - lines->sections), offset};
    uint32_t index = intern_add(lines->keys, key, sizeof(key));
    if (index < lines->count)
        return lines->tables[index];
    struct line_table **table =
        index == lines->count ? ARRAY_PUSH(lines->tables, lines->count, lines->capacity) : NULL;
    if (!table)
        return NULL;
    *table = read_table(lines, sections, unit, offset);
    return *table;
}

bool lines_are_damaged(const struct lines *lines)
{
    bool is_damaged = lines->is_damaged;
    for (size_t i = 0; i < lines->count && !is_damaged; i++)
        is_damaged = lines->tables[i] && lines->tables[i]->is_damaged;
    return is_damaged;
}

const char *line_table_file(struct line_table *table, uint64_t index)
{
    struct line_file *file = index < table->file_count ? &table->files[index] : NULL;
    const char *directory = file && file->directory < table->directory_count
                                ? table->directories[file->directory]
                                : NULL;
    if (!file || !file->name || file->name[0] == '/' || !directory)
        return file ? file->name : NULL;
    if (!file->path && asprintf(&file->path, "%s/%s", directory, file->name) < 0)
        file->path = NULL;
    return file->path;
}

/* The program runs at the first lookup, within the time of the file. */
static int read_rows(struct line_table *table)
{
    struct reading_clock *clock = table->clock;
    if (clock && !reading_clock_begin(clock))
        return -ETIME;
    int err = line_rows_read(table);
    if (clock)
        reading_clock_end(clock);
    return err;
}

const struct line_row *line_table_find(struct line_table *table, uint64_t svma)
{
    if (!table->has_rows && read_rows(table) != 0)
        return NULL;
    size_t low = ARRAY_COUNT_UP_TO(table->rows, table->row_count, svma, svma);
    return low && !table->rows[low - 1].is_end ? &table->rows[low - 1] : NULL;
}
