/* SPDX-License-Identifier: MIT */
/* Line tables out of a compressed section: those that are asked for are what they were, others zeros. */
#include "base/containers/cursor.h"
#include "elf/elf_stream.h"
#include "symbols/files/partial_lines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "../elf/packed_section.h"

enum { TABLES = 50, TABLE_BYTES = 5000, BYTES = TABLES * TABLE_BYTES };

static uint8_t plain[BYTES], compressed[2 * BYTES];

static void put_length(size_t at, uint32_t length)
{
    memcpy(plain + at, &length, sizeof(length));
}

/* Tables of one size, without zeros; every third says its length in 64 bits. */
static void make_tables(void)
{
    srandom(1);
    for (size_t i = 0; i < BYTES; i++)
        plain[i] = (uint8_t)(1 + random() % 255);
    for (size_t i = 0; i < TABLES; i++) {
        put_length(i * TABLE_BYTES, i % 3 ? TABLE_BYTES - 4 : UINT32_MAX);
        if (i % 3 == 0) {
            put_length(i * TABLE_BYTES + 4, TABLE_BYTES - 12);
            put_length(i * TABLE_BYTES + 8, 0);
        }
    }
}

/* Damaged from one of its bytes on. */
static struct elf_file *open_packed(size_t damage_at, struct elf_section *section)
{
    uLongf size = sizeof(compressed);
    assert_int_equal(compress(compressed, &size, plain, BYTES), Z_OK);
    for (size_t i = damage_at; i < size; i++)
        compressed[i] = 0xff;
    return packed_section_open(compressed, size, BYTES, section);
}

static int last_error; /* of reading tables */

static struct buffer read_tables(const uint64_t *offsets, size_t count, size_t damage_at)
{
    struct elf_section section;
    struct elf_file *elf = open_packed(damage_at, &section);
    struct partial_lines lines;
    struct buffer out = {0};
    int err = partial_lines_open(&lines, elf, &section, &out);
    if (err == 0)
        last_error = partial_lines_read(&lines, offsets, count);
    elf_close(elf);
    if (err == -ENOTSUP)
        skip(); /* built without what it needs */
    assert_int_equal(err, 0);
    assert_int_equal(out.size, BYTES);
    assert_null(lines.stream);
    assert_true(last_error == 0 || damage_at < SIZE_MAX);
    return out;
}

static void assert_table(const struct buffer *out, size_t table, bool is_there)
{
    static const uint8_t zeros[TABLE_BYTES];
    const uint8_t *found = out->bytes + table * TABLE_BYTES;
    assert_memory_equal(found, is_there ? plain + table * TABLE_BYTES : zeros, TABLE_BYTES);
}

static void those_asked_for_are_there_and_no_others(void **state)
{
    (void)state;
    make_tables();
    for (size_t step = 1; step < TABLES; step++) {
        uint64_t offsets[2 * TABLES];
        size_t count = 0;
        for (size_t i = 0; i < TABLES; i += step) /* units may share a table */
            offsets[count] = offsets[count + 1] = i * TABLE_BYTES, count += 2;
        struct buffer out = read_tables(offsets, count, SIZE_MAX);
        for (size_t i = 0; i < TABLES; i++)
            assert_table(&out, i, i % step == 0);
        buffer_free(&out);
    }
}

/* Inside of another, at the section's end, behind it. */
static void offsets_that_cannot_be_leave_the_others(void **state)
{
    (void)state;
    make_tables();
    const uint64_t offsets[] = {TABLE_BYTES, TABLE_BYTES + 7, 5 * TABLE_BYTES, BYTES - 3,
                                BYTES,       BYTES + 1,       UINT64_MAX};
    struct buffer out = read_tables(offsets, sizeof(offsets) / sizeof(offsets[0]), SIZE_MAX);
    for (size_t i = 0; i < TABLES; i++)
        assert_table(&out, i, i == 1 || i == 5);
    buffer_free(&out);
}

/* Of 32 bits, of 64, and without the 64. */
static void lengths_that_cannot_be_leave_the_others(void **state)
{
    (void)state;
    make_tables();
    put_length(TABLE_BYTES, UINT32_MAX - 1);
    put_length(3 * TABLE_BYTES + 8, UINT32_MAX);
    put_length(BYTES - 6, UINT32_MAX);
    const uint64_t offsets[] = {TABLE_BYTES, 3 * TABLE_BYTES, 4 * TABLE_BYTES, BYTES - 6};
    struct buffer out = read_tables(offsets, 4, SIZE_MAX);
    assert_table(&out, 2, false);
    assert_table(&out, 4, true);
    assert_table(&out, 5, false);
    buffer_free(&out);
}

static void what_lies_before_damage_is_there(void **state)
{
    (void)state;
    make_tables();
    const uint64_t offsets[] = {0, 40 * TABLE_BYTES};
    struct buffer out = read_tables(offsets, 2, 30 * TABLE_BYTES);
    assert_int_equal(last_error, -EBADMSG);
    assert_table(&out, 0, true);
    assert_table(&out, 1, false);
    buffer_free(&out);
}

static void what_is_not_compressed_is_read_whole(void **state)
{
    (void)state;
    struct elf_section section;
    struct elf_file *elf = open_packed(SIZE_MAX, &section);
    struct partial_lines lines;
    struct buffer out = {0};
    section.flags = 0;
    assert_int_equal(partial_lines_open(&lines, elf, &section, &out), -ENOTSUP);
    assert_null(out.bytes);
    partial_lines_close(&lines);
    elf_close(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_asked_for_are_there_and_no_others),
        cmocka_unit_test(offsets_that_cannot_be_leave_the_others),
        cmocka_unit_test(lengths_that_cannot_be_leave_the_others),
        cmocka_unit_test(what_lies_before_damage_is_there),
        cmocka_unit_test(what_is_not_compressed_is_read_whole),
    };
    elf_stream_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
