/* SPDX-License-Identifier: MIT */
#include "elf/go_table.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MAGIC_1_18 UINT32_C(0xfffffff0)
#define MAGIC_1_20 UINT32_C(0xfffffff1)
#define ENTRY_BYTES 8
/* All functions of a hostile table may share a name that fills the section. */
#define NAME_BYTES_MAX 16384
/* Word of the module data with the address of the code (struct moduledata in runtime/symtab.go). */
#define MODULE_TEXT_WORD 22

/* The part of the section from an offset in the header on. */
static struct cursor part_of(const struct buffer *section, struct cursor *header)
{
    struct cursor part = cursor_of(section->bytes, section->size);
    cursor_seek(&part, cursor_u64(header));
    header->failed |= part.failed;
    return cursor_of(part.bytes + part.at, cursor_left(&part));
}

static struct cursor at(struct cursor part, uint64_t offset)
{
    cursor_seek(&part, offset);
    return part;
}

static int parse(struct go_table *table, uint64_t text_svma)
{
    const struct buffer *section = &table->bytes;
    struct cursor header = cursor_of(section->bytes, section->size);
    uint32_t magic = cursor_u32(&header);
    if (magic != MAGIC_1_18 && magic != MAGIC_1_20)
        return -ENOENT;
    cursor_skip(&header, 2);
    table->quantum = cursor_u8(&header);
    uint8_t pointer_bytes = cursor_u8(&header);
    uint64_t count = cursor_u64(&header);
    cursor_skip(&header, 8); /* number of files */
    table->text_svma = cursor_u64(&header);
    if (table->text_svma == 0) /* Go 1.26 */
        table->text_svma = text_svma;
    table->names = part_of(section, &header);
    table->units = part_of(section, &header);
    table->files = part_of(section, &header);
    table->values = part_of(section, &header);
    table->functions = part_of(section, &header);
    if (header.failed || pointer_bytes != 8 || table->quantum == 0 ||
        count >= table->functions.size / ENTRY_BYTES)
        return -EBADMSG;
    table->count = (size_t)count;
    return 0;
}

int go_table_parse(struct go_table *table, struct buffer *section, uint64_t text_svma)
{
    *table = (struct go_table){.bytes = *section};
    *section = (struct buffer){0};
    int err = table->bytes.failed ? -ENOMEM : parse(table, text_svma);
    if (err)
        go_table_close(table);
    return err;
}

void go_table_close(struct go_table *table)
{
    buffer_free(&table->bytes);
    *table = (struct go_table){0};
}

/* The executable segment around the address. */
static bool is_code(const struct elf_file *elf, uint64_t svma)
{
    for (size_t i = 0; i < elf_segment_count(elf); i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        if (segment->type == PT_LOAD && (segment->flags & PF_X) && svma >= segment->svma &&
            svma - segment->svma < segment->memory_bytes)
            return true;
    }
    return false;
}

/* Without the header's address: the module data of the linker, else the start of the code. With
 * an external linker, the C start code comes first. */
static uint64_t find_text(const struct elf_file *elf)
{
    const struct elf_section *module = elf_find_section(elf, ".go.module");
    const struct elf_section *text = elf_find_section(elf, ".text");
    struct buffer word = {0};
    uint64_t svma = 0;
    if (module && elf_read_section_part(elf, module, 8 * MODULE_TEXT_WORD, 8, &word) == 0) {
        struct cursor c = cursor_of(word.bytes, word.size);
        svma = cursor_u64(&c);
    }
    buffer_free(&word);
    return is_code(elf, svma) ? svma : text ? text->svma : 0;
}

int go_table_open(struct go_table *table, const struct elf_file *elf)
{
    const struct elf_section *section = elf_find_section(elf, ".gopclntab");
    if (!section) /* position-independent, before Go 1.26 */
        section = elf_find_section(elf, ".data.rel.ro.gopclntab");
    *table = (struct go_table){0};
    if (!section)
        return -ENOENT;
    struct buffer bytes = {0};
    int err = elf_read_section(elf, section, &bytes, NULL);
    if (err) {
        buffer_free(&bytes);
        return err;
    }
    return go_table_parse(table, &bytes, find_text(elf));
}

static uint64_t entry_svma(const struct go_table *table, size_t index, uint32_t *record)
{
    struct cursor c = at(table->functions, index * ENTRY_BYTES);
    uint64_t svma = table->text_svma + cursor_u32(&c);
    *record = cursor_u32(&c);
    return svma;
}

static struct cursor name_at(const struct go_table *table, uint64_t offset)
{
    struct cursor name = at(table->names, offset);
    if (cursor_left(&name) > NAME_BYTES_MAX)
        name.size = name.at + NAME_BYTES_MAX;
    return name;
}

/* The record, struct _func in runtime/runtime2.go: entry, name, arguments, deferreturn, values of
 * SP, file and line, number of tables, unit. */
bool go_table_function(const struct go_table *table, size_t index, struct go_function *function)
{
    uint32_t record, next;
    *function = (struct go_function){.start_svma = entry_svma(table, index, &record),
                                     .end_svma = entry_svma(table, index + 1, &next)};
    struct cursor c = at(table->functions, record);
    cursor_skip(&c, 4);
    struct cursor name = name_at(table, cursor_u32(&c));
    cursor_skip(&c, 8);
    function->sp_values = cursor_u32(&c);
    function->file_values = cursor_u32(&c);
    function->line_values = cursor_u32(&c);
    cursor_skip(&c, 4);
    function->unit = cursor_u32(&c);
    function->name = cursor_string(&name);
    return !c.failed && function->name && function->end_svma > function->start_svma;
}

bool go_table_find(const struct go_table *table, uint64_t svma, struct go_function *function)
{
    size_t low = 0, high = table->count;
    uint32_t record;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entry_svma(table, middle, &record) <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && go_table_function(table, low - 1, function) && svma < function->end_svma;
}

struct go_values go_table_values(const struct go_table *table, uint32_t values)
{
    return (struct go_values){
        .bytes = at(table->values, values), .quantum = table->quantum, .value = -1};
}

/* The change is zigzag-encoded; 0 ends the runs, except for the first. */
bool go_values_next(struct go_values *values)
{
    bool is_first = values->end == 0;
    uint64_t change = cursor_uleb128(&values->bytes);
    if (values->bytes.failed || change > UINT32_MAX || (change == 0 && !is_first))
        return false;
    uint32_t half = (uint32_t)change >> 1;
    uint64_t length = cursor_uleb128(&values->bytes);
    values->value = (int32_t)((uint32_t)values->value + (change & 1 ? ~half : half));
    values->start = values->end;
    return !values->bytes.failed && length > 0 && length <= UINT32_MAX &&
           !__builtin_add_overflow(values->start, length * values->quantum, &values->end);
}

static int32_t value_at(const struct go_table *table, uint32_t values, uint64_t offset)
{
    struct go_values run = go_table_values(table, values);
    while (go_values_next(&run))
        if (offset < run.end)
            return run.value;
    return -1;
}

struct go_position go_table_position(const struct go_table *table,
                                     const struct go_function *function, uint64_t svma)
{
    uint64_t offset = svma - function->start_svma;
    int32_t file = value_at(table, function->file_values, offset);
    int32_t line = value_at(table, function->line_values, offset);
    struct go_position position = {.line = line > 0 ? (uint32_t)line : 0};
    if (file < 0)
        return position;
    struct cursor unit = at(table->units, 4 * ((uint64_t)function->unit + (uint64_t)file));
    struct cursor name = at(table->files, cursor_u32(&unit));
    position.file = unit.failed ? NULL : cursor_string(&name);
    return position;
}
