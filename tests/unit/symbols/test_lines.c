/* SPDX-License-Identifier: MIT */
/* Line tables written by hand: what each version says, in whatever order, and that no bytes do harm. */
#include "symbols/dwarf/lines.h"

#include "base/containers/buffer.h"

#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LINE_BASE = 5, LINE_RANGE = 14, OPCODE_BASE = 13 };

static void put_numbers(struct buffer *out, unsigned version)
{
    static const uint8_t operand_counts[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    buffer_u8(out, 1);
    if (version >= 4)
        buffer_u8(out, 1);
    buffer_u8(out, 1);
    buffer_u8(out, (uint8_t)-LINE_BASE);
    buffer_u8(out, LINE_RANGE);
    buffer_u8(out, OPCODE_BASE);
    buffer_append(out, operand_counts, sizeof(operand_counts));
}

static void put_text(struct buffer *out, const char *text)
{
    buffer_append(out, text, strlen(text) + 1);
}

static void put_old_lists(struct buffer *out)
{
    put_text(out, "include");
    put_text(out, "/abs");
    buffer_u8(out, 0);
    static const char *const names[] = {"here.c", "there.h", "/root.h", "far.h"};
    static const uint8_t directories[] = {0, 1, 1, 2};
    for (size_t i = 0; i < 4; i++) {
        put_text(out, names[i]);
        buffer_u8(out, directories[i]);
        buffer_u8(out, 0);
        buffer_u8(out, 0);
    }
    buffer_u8(out, 0);
}

/* Directories by .debug_line_str, files with a checksum behind. */
static void put_new_lists(struct buffer *out)
{
    buffer_u8(out, 1);
    buffer_u8(out, DW_LNCT_path);
    buffer_u8(out, DW_FORM_line_strp);
    buffer_u8(out, 2);
    buffer_u32(out, 0);
    buffer_u32(out, 5);
    buffer_u8(out, 3);
    buffer_u8(out, DW_LNCT_path);
    buffer_u8(out, DW_FORM_string);
    buffer_u8(out, DW_LNCT_directory_index);
    buffer_u8(out, DW_FORM_udata);
    buffer_u8(out, DW_LNCT_MD5);
    buffer_u8(out, DW_FORM_data16);
    buffer_u8(out, 2);
    put_text(out, "zero.c");
    buffer_u8(out, 0);
    buffer_zeros(out, 16);
    put_text(out, "one.h");
    buffer_u8(out, 1);
    buffer_zeros(out, 16);
}

static void put_set_address(struct buffer *out, uint64_t svma)
{
    buffer_u8(out, 0);
    buffer_u8(out, 9);
    buffer_u8(out, DW_LNE_set_address);
    buffer_u64(out, svma);
}

static void put_end(struct buffer *out, uint8_t advance)
{
    buffer_u8(out, DW_LNS_advance_pc);
    buffer_u8(out, advance);
    buffer_u8(out, 0);
    buffer_u8(out, 1);
    buffer_u8(out, DW_LNE_end_sequence);
}

/* A row `advance` bytes on, `lines` further down. */
static void put_special(struct buffer *out, unsigned advance, int lines)
{
    buffer_u8(out, (uint8_t)(OPCODE_BASE + advance * LINE_RANGE + (unsigned)(lines + LINE_BASE)));
}

/* 0x2000 to 0x2010 before 0x1000 to 0x1008, which ends with a row of no length. */
static void put_program(struct buffer *out)
{
    put_set_address(out, 0x2000);
    buffer_u8(out, DW_LNS_set_file);
    buffer_u8(out, 2);
    put_special(out, 0, 8);  /* 0x2000: line 9 */
    put_special(out, 4, -3); /* 0x2004: line 6 */
    put_end(out, 12);
    put_set_address(out, 0x1000);
    buffer_u8(out, DW_LNS_set_column);
    buffer_u8(out, 7);
    put_special(out, 0, 0); /* 0x1000: line 1 */
    put_special(out, 8, 1); /* 0x1008: line 2 */
    put_end(out, 0);
}

static struct buffer make_table(unsigned version)
{
    struct buffer header = {0}, program = {0}, out = {0};
    put_numbers(&header, version);
    if (version >= 5)
        put_new_lists(&header);
    else
        put_old_lists(&header);
    put_program(&program);
    size_t sizes_bytes = version >= 5 ? 2 : 0;
    buffer_u32(&out, (uint32_t)(2 + sizes_bytes + 4 + header.size + program.size));
    buffer_u16(&out, (uint16_t)version);
    if (sizes_bytes)
        buffer_u16(&out, 8);
    buffer_u32(&out, (uint32_t)header.size);
    buffer_append(&out, header.bytes, header.size);
    buffer_append(&out, program.bytes, program.size);
    buffer_free(&header);
    buffer_free(&program);
    return out;
}

static void table_free(struct line_table *table)
{
    for (size_t i = 0; i < table->file_count; i++)
        free(table->files[i].path);
    free(table->files);
    free(table->directories);
    free(table->rows);
}

static int read_table(struct line_table *table, const void *bytes, size_t size)
{
    static const char line_str[] = "/new\0made"; /* at 0 and 5 */
    const struct line_sections sections = {.line = cursor_of(bytes, size),
                                           .line_str = cursor_of(line_str, sizeof(line_str))};
    *table = (struct line_table){0};
    return line_header_read(table, &sections, 0, "/made");
}

static void expect_row(struct line_table *table, uint64_t svma, uint32_t line)
{
    const struct line_row *row = line_table_find(table, svma);
    if (line == 0)
        assert_null(row);
    else
        assert_int_equal(row ? row->line : 0, line);
}

static void rows_are_found_by_address(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        struct buffer bytes = make_table(version);
        struct line_table table;
        assert_int_equal(read_table(&table, bytes.bytes, bytes.size), 0);
        expect_row(&table, 0xfff, 0);
        expect_row(&table, 0x1000, 1);
        expect_row(&table, 0x1007, 1);
        expect_row(&table, 0x1008, 0);
        expect_row(&table, 0x2000, 9);
        expect_row(&table, 0x2003, 9);
        expect_row(&table, 0x2004, 6);
        expect_row(&table, 0x200f, 6);
        expect_row(&table, 0x2010, 0);
        assert_int_equal(line_table_find(&table, 0x1000)->column, 7);
        assert_int_equal(line_table_find(&table, 0x1000)->file, 1);
        assert_int_equal(line_table_find(&table, 0x2000)->file, 2);
        table_free(&table);
        buffer_free(&bytes);
    }
}

static void expect_file(struct line_table *table, uint64_t file, const char *path)
{
    const char *found = line_table_file(table, file);
    if (!path)
        assert_null(found);
    else
        assert_string_equal(found, path);
    assert_ptr_equal(line_table_file(table, file), found);
}

static void files_are_joined_with_their_directories(void **state)
{
    (void)state;
    struct line_table table;
    struct buffer bytes = make_table(4);
    assert_int_equal(read_table(&table, bytes.bytes, bytes.size), 0);
    expect_file(&table, 0, NULL);
    expect_file(&table, 1, "/made/here.c");
    expect_file(&table, 2, "include/there.h");
    expect_file(&table, 3, "/root.h");
    expect_file(&table, 4, "/abs/far.h");
    expect_file(&table, 5, NULL);
    expect_file(&table, UINT64_MAX, NULL);
    table_free(&table);
    buffer_free(&bytes);
    bytes = make_table(5);
    assert_int_equal(read_table(&table, bytes.bytes, bytes.size), 0);
    expect_file(&table, 0, "/new/zero.c");
    expect_file(&table, 1, "made/one.h");
    expect_file(&table, 2, NULL);
    table_free(&table);
    buffer_free(&bytes);
}

/* Cut anywhere, and with each byte replaced: an error, or rows; nothing is read outside of the bytes. */
static void no_damage_does_harm(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        struct buffer bytes = make_table(version);
        for (size_t i = 0; i < bytes.size; i++) {
            static const uint8_t others[] = {0, 1, 0x7f, 0x80, 0xff};
            uint8_t *copy = malloc(bytes.size);
            struct line_table table;
            memcpy(copy, bytes.bytes, bytes.size);
            uint8_t *cut = malloc(i + 1);
            memcpy(cut, copy, i);
            assert_true(read_table(&table, cut, i) == -EBADMSG);
            table_free(&table);
            free(cut);
            for (size_t j = 0; j < sizeof(others); j++) {
                copy[i] = others[j];
                if (read_table(&table, copy, bytes.size) == 0)
                    (void)line_table_find(&table, 0x2000);
                for (size_t file = 0; file < table.file_count; file++)
                    (void)line_table_file(&table, file);
                table_free(&table);
            }
            free(copy);
        }
        buffer_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_by_address),
        cmocka_unit_test(files_are_joined_with_their_directories),
        cmocka_unit_test(no_damage_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
