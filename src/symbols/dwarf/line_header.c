/* SPDX-License-Identifier: MIT */
/* DWARF 5, section 6.2.4; DWARF 4 and before, the same section. */
#include "symbols/dwarf/lines.h"

#include "base/containers/array.h"

#include <dwarf.h>
#include <errno.h>

/* The unit at an offset: a length of 4 bytes, or of 12 bytes in the 64-bit format; *is_64: offsets
 * have 8 bytes. */
static struct cursor unit_at(const struct cursor *section, uint64_t offset, bool *is_64)
{
    struct cursor c = *section;
    cursor_seek(&c, offset);
    uint64_t bytes = cursor_u32(&c);
    *is_64 = bytes == UINT32_MAX;
    if (*is_64)
        bytes = cursor_u64(&c);
    return cursor_sub(&c, bytes);
}

static uint64_t read_offset(struct cursor *c, bool is_64)
{
    return is_64 ? cursor_u64(c) : cursor_u32(c);
}

static int add_directory(struct line_table *table, const char *directory)
{
    const char **added =
        ARRAY_PUSH(table->directories, table->directory_count, table->directory_capacity);
    if (!added)
        return -ENOMEM;
    *added = directory;
    return 0;
}

static int add_file(struct line_table *table, const char *name, uint64_t directory)
{
    struct line_file *added = ARRAY_PUSH(table->files, table->file_count, table->file_capacity);
    if (!added)
        return -ENOMEM;
    added->name = name;
    added->directory = directory;
    return 0;
}

/* Versions 2 to 4: lists of strings. Files count from 1. */
static int read_old_lists(struct line_table *table, struct cursor *c, const char *directory)
{
    const char *text;
    int err = add_directory(table, directory);
    while (err == 0 && (text = cursor_string(c)) && text[0])
        err = add_directory(table, text);
    if (err == 0)
        err = add_file(table, NULL, 0);
    while (err == 0 && (text = cursor_string(c)) && text[0]) {
        err = add_file(table, text, cursor_uleb128(c));
        (void)cursor_uleb128(c); /* modification time */
        (void)cursor_uleb128(c); /* size */
    }
    return err;
}

struct value {
    const char *text; /* NULL: a number, or missing */
    uint64_t number;
};

static const char *text_at(const struct cursor *section, uint64_t offset)
{
    struct cursor c = *section;
    cursor_seek(&c, offset);
    return cursor_string(&c);
}

static struct value read_value(struct cursor *c, const struct line_sections *sections,
                               uint64_t form, bool is_64)
{
    switch (form) {
    case DW_FORM_string:
        return (struct value){.text = cursor_string(c)};
    case DW_FORM_line_strp:
        return (struct value){.text = text_at(&sections->line_str, read_offset(c, is_64))};
    case DW_FORM_strp:
        return (struct value){.text = text_at(&sections->str, read_offset(c, is_64))};
    case DW_FORM_strp_sup:
        (void)read_offset(c, is_64);
        return (struct value){0};
    case DW_FORM_udata:
        return (struct value){.number = cursor_uleb128(c)};
    case DW_FORM_data1:
        return (struct value){.number = cursor_u8(c)};
    case DW_FORM_data2:
        return (struct value){.number = cursor_u16(c)};
    case DW_FORM_data4:
        return (struct value){.number = cursor_u32(c)};
    case DW_FORM_data8:
        return (struct value){.number = cursor_u64(c)};
    case DW_FORM_data16:
        cursor_skip(c, 16);
        return (struct value){0};
    case DW_FORM_block:
        cursor_skip(c, cursor_uleb128(c));
        return (struct value){0};
    default:
        c->failed = true;
        return (struct value){0};
    }
}

struct format {
    uint64_t content[8], form[8];
    size_t count;
};

/* DWARF 5, 6.2.4.1. A format has path, directory, and maybe MD5, size and time. */
static struct format read_format(struct cursor *c)
{
    struct format format = {.count = cursor_u8(c)};
    if (format.count > sizeof(format.form) / sizeof(format.form[0]))
        c->failed = true;
    for (size_t i = 0; i < format.count && !c->failed; i++) {
        format.content[i] = cursor_uleb128(c);
        format.form[i] = cursor_uleb128(c);
    }
    return format;
}

/* Version 5: a format, then the entries. Adds directories or files, counted from 0. */
static int read_list(struct line_table *table, struct cursor *c,
                     const struct line_sections *sections, bool is_64, bool are_files)
{
    struct format format = read_format(c);
    uint64_t count = cursor_uleb128(c);
    int err = 0;
    if (format.count == 0 || count > cursor_left(c))
        return count == 0 ? 0 : -EBADMSG;
    for (uint64_t i = 0; i < count && err == 0 && !c->failed; i++) {
        const char *path = NULL;
        uint64_t directory = 0;
        for (size_t j = 0; j < format.count; j++) {
            struct value value = read_value(c, sections, format.form[j], is_64);
            if (format.content[j] == DW_LNCT_path)
                path = value.text;
            else if (format.content[j] == DW_LNCT_directory_index)
                directory = value.number;
        }
        err = are_files ? add_file(table, path, directory) : add_directory(table, path);
    }
    return err;
}

/* Directories first: files refer to directories by number. */
static int read_lists(struct line_table *table, struct cursor *c,
                      const struct line_sections *sections, bool is_64)
{
    int err = read_list(table, c, sections, is_64, false);
    return err ? err : read_list(table, c, sections, is_64, true);
}

/* The parameters of the program's opcodes. 0, -EBADMSG, or -ENOTSUP: VLIW instructions (several
 * operations each). */
static int read_numbers(struct line_table *table, struct cursor *c)
{
    table->instruction_bytes = cursor_u8(c);
    uint8_t operations = table->version >= 4 ? cursor_u8(c) : 1;
    (void)cursor_u8(c); /* whether rows are statements at first */
    table->line_base = (int8_t)cursor_u8(c);
    table->line_range = cursor_u8(c);
    table->opcode_base = cursor_u8(c);
    for (unsigned i = 1; i < table->opcode_base; i++)
        table->operand_counts[i] = cursor_u8(c);
    if (table->line_range == 0 || table->opcode_base == 0)
        return -EBADMSG;
    return operations <= 1 ? 0 : -ENOTSUP;
}

/* The header ends where its own length states; the program follows, up to the end of the unit. */
int line_header_read(struct line_table *table, const struct line_sections *sections,
                     uint64_t offset, const char *directory)
{
    bool is_64;
    struct cursor c = unit_at(&sections->line, offset, &is_64);
    table->version = cursor_u16(&c);
    if (c.failed || table->version < 2)
        return -EBADMSG;
    if (table->version > 5)
        return -ENOTSUP;
    if (table->version >= 5)
        cursor_skip(&c, 2); /* sizes of addresses and of segments */
    struct cursor header = cursor_sub(&c, read_offset(&c, is_64));
    table->program = c;
    int err = read_numbers(table, &header);
    if (err == 0)
        err = table->version >= 5 ? read_lists(table, &header, sections, is_64)
                                  : read_old_lists(table, &header, directory);
    return err == 0 && header.failed ? -EBADMSG : err;
}
