/* SPDX-License-Identifier: MIT */
#include "symbols/files/partial_info.h"

#include "base/containers/table.h"
#include "elf/elf_stream.h"
#include "symbols/files/partial_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH_BYTES = 4,
    HEADER_BYTES = 12, /* of version 5; the longest header read */
    EMPTY_BYTES = HEADER_BYTES + 1,
    ATTRIBUTES_MAX = 512, /* as in die_abbreviations.c */
};

struct writing {
    struct elf_stream *stream;
    uint8_t *bytes;  /* as they will be; zeros so far */
    uint8_t *tables; /* the same of abbreviations */
    uint64_t size, at;
    uint64_t empty_from; /* start of the units being left out; == at: none */
};

static bool is_reference_to_units(uint64_t form)
{
    return form == DW_FORM_ref_addr || form == DW_FORM_ref_sig8 || form == DW_FORM_indirect;
}

/* Moves behind the attributes of a declaration. */
static bool attributes_refer_to_units(struct cursor *c)
{
    for (int i = 0; i < ATTRIBUTES_MAX && !c->failed; i++) {
        uint64_t name = cursor_uleb128(c), form = cursor_uleb128(c);
        if (name == 0 && form == 0)
            return false;
        if (form == DW_FORM_implicit_const)
            (void)cursor_sleb128(c);
        if (is_reference_to_units(form))
            break;
    }
    return true;
}

/* Moves behind the table, or to a part kept already, so that shared tables are read once. Tables of
 * compilers end, and have small codes. Other tables count as references: hostile tables start one
 * inside of another. */
static bool refers_to_units(struct cursor *c, const uint8_t *kept)
{
    while ((cursor_left(c) == 0 || !kept[c->at]) && cursor_uleb128(c) != 0) {
        (void)cursor_uleb128(c); /* tag */
        (void)cursor_u8(c);      /* children */
        if (attributes_refer_to_units(c))
            return true;
    }
    return c->failed;
}

/* Keeps the abbreviations of a unit without references to other units; else -ENOTSUP. unit: from
 * its header on. */
static int keep_table(const struct partial_info *partial, struct writing *writing,
                      struct cursor unit)
{
    cursor_skip(&unit, LENGTH_BYTES);
    uint16_t version = cursor_u16(&unit);
    if (version >= 5)
        cursor_skip(&unit, 2);
    struct cursor table = partial->abbreviations;
    cursor_seek(&table, cursor_u32(&unit));
    size_t start = table.at;
    if (unit.failed || version > 5 || refers_to_units(&table, writing->tables))
        return -ENOTSUP;
    memcpy(writing->tables + start, table.bytes + start, table.at - start);
    return 0;
}

/* Turns the bytes left out into an empty unit: length, version, type, size of addresses, and offset
 * 0 of abbreviations (DWARF 5, 7.5.1.1), then zeros, which are null entries. */
static int write_empty(struct writing *writing)
{
    uint64_t bytes = writing->at - writing->empty_from;
    if (bytes == 0)
        return 0;
    if (bytes < EMPTY_BYTES)
        return -ENOTSUP;
    uint8_t header[HEADER_BYTES] = {[4] = 5, [6] = DW_UT_partial, [7] = 8};
    uint32_t length = (uint32_t)(bytes - LENGTH_BYTES);
    memcpy(header, &length, sizeof(length));
    memcpy(writing->bytes + writing->empty_from, header, sizeof(header));
    return 0;
}

static int keep_unit(const struct partial_info *partial, struct writing *writing,
                     const uint8_t *length, uint64_t bytes)
{
    uint8_t *unit = writing->bytes + writing->at;
    int err = write_empty(writing);
    if (err == 0)
        err = elf_stream_read(writing->stream, unit + LENGTH_BYTES, bytes);
    if (err != 0)
        return err;
    memcpy(unit, length, LENGTH_BYTES);
    writing->at += LENGTH_BYTES + bytes;
    writing->empty_from = writing->at;
    return keep_table(partial, writing, cursor_of(unit, LENGTH_BYTES + bytes));
}

/* Copies the unit at writing->at, or passes it by. The 64-bit format is read as a whole. */
static int next_unit(const struct partial_info *partial, const struct partial_units *units,
                     struct writing *writing)
{
    uint8_t length[LENGTH_BYTES];
    if (writing->size - writing->at < EMPTY_BYTES)
        return -ENOTSUP;
    int err = elf_stream_read(writing->stream, length, LENGTH_BYTES);
    if (err != 0)
        return err;
    struct cursor c = cursor_of(length, LENGTH_BYTES);
    uint64_t bytes = cursor_u32(&c);
    if (bytes > writing->size - writing->at - LENGTH_BYTES) /* or of 64 bits */
        return -ENOTSUP;
    if (partial_units_need(units, writing->at))
        return keep_unit(partial, writing, length, bytes);
    writing->at += LENGTH_BYTES + bytes;
    return elf_stream_read(writing->stream, NULL, bytes);
}

/* Reading ends behind the last needed unit: the rest is an empty unit. */
static int write_units(const struct partial_info *partial, const struct partial_units *units,
                       struct writing *writing)
{
    int err = writing->bytes && writing->tables ? 0 : -ENOMEM;
    while (err == 0 && writing->at < writing->size && writing->at < units->end)
        err = next_unit(partial, units, writing);
    writing->at = writing->size;
    return err ? err : write_empty(writing);
}

static struct buffer buffer_of(uint8_t *bytes, size_t size)
{
    return (struct buffer){.bytes = bytes, .size = size, .capacity = size};
}

static int write_partial(const struct partial_info *partial, const struct partial_units *units,
                         struct elf_stream *stream, struct buffer *out, struct buffer *tables)
{
    struct writing writing = {.stream = stream, .size = elf_stream_bytes(stream)};
    size_t table_bytes = partial->abbreviations.size;
    writing.bytes = table_sparse((size_t)writing.size);
    writing.tables = table_sparse(table_bytes);
    int err = write_units(partial, units, &writing);
    if (err == 0) {
        buffer_free(out);
        *out = buffer_of(writing.bytes, writing.size);
        *tables = buffer_of(writing.tables, table_bytes);
        return 0;
    }
    free(writing.bytes);
    free(writing.tables);
    return err;
}

int partial_info_read(const struct partial_info *partial, const struct elf_file *elf,
                      const struct elf_section *section, struct buffer *out, struct buffer *tables)
{
    struct partial_units units = {0};
    struct elf_stream *stream = NULL;
    int err = partial->needed_count ? elf_stream_open(&stream, elf, section) : -ENOTSUP;
    if (err == 0)
        err = partial_units_read(&units, partial->aranges, partial->needed, partial->needed_count);
    if (err == 0)
        err = write_partial(partial, &units, stream, out, tables);
    partial_units_free(&units);
    elf_stream_close(stream);
    return err;
}
