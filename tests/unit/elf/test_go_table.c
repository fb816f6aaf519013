/* SPDX-License-Identifier: MIT */
/* A function table made up here, in the layout of Go 1.20: two functions of one file. */
#include "elf/go_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_SVMA UINT64_C(0x401000)
enum { NAMES = 72, NAME_BYTES = 16, UNITS = 88, FILES = 96, FILE_BYTES = 8, VALUES = 104 };
enum { VALUE_BYTES = 16, FUNCTIONS = 120, RECORD_1 = 24, RECORD_2 = 64, RECORD_BYTES = 40 };

static const char names[NAME_BYTES] = "\0main.f\0main.g";
static const char files[FILE_BYTES] = "/a.go";
/* At 1: SP 0 for 4 bytes, then 24 for 12. At 6: file 0 for 16. At 9: line 7 for 4, line 5 for 12. */
static const uint8_t values[VALUE_BYTES] = {0, 2, 4, 48, 12, 0, 2, 16, 0, 16, 4, 3, 12, 0};

static void put_record(struct buffer *out, uint32_t entry, uint32_t name)
{
    const uint32_t words[RECORD_BYTES / 4] = {entry, name, 0, 0, 1, 6, 9, 0, 0, 0};
    buffer_append(out, words, sizeof(words));
}

static struct buffer section(uint32_t magic, uint64_t text_svma)
{
    struct buffer out = {0};
    const uint8_t sizes[4] = {0, 0, 1, 8};
    const uint64_t words[8] = {2, 1, text_svma, NAMES, UNITS, FILES, VALUES, FUNCTIONS};
    const uint32_t unit[2] = {0, 0};
    const uint32_t functions[6] = {0, RECORD_1, 16, RECORD_2, 32, 0};
    buffer_u32(&out, magic);
    buffer_append(&out, sizes, sizeof(sizes));
    buffer_append(&out, words, sizeof(words));
    buffer_append(&out, names, sizeof(names));
    buffer_append(&out, unit, sizeof(unit));
    buffer_append(&out, files, sizeof(files));
    buffer_append(&out, values, sizeof(values));
    buffer_append(&out, functions, sizeof(functions));
    put_record(&out, 0, 1);
    put_record(&out, 16, 8);
    assert_false(out.failed);
    return out;
}

static void functions_have_names_ranges_and_lines(void **state)
{
    (void)state;
    for (uint32_t magic = 0xfffffff0; magic <= 0xfffffff1; magic++) {
        struct buffer bytes = section(magic, TEXT_SVMA);
        struct go_table table;
        struct go_function function;
        assert_int_equal(go_table_parse(&table, &bytes, 0), 0);
        assert_int_equal(table.count, 2);
        assert_true(go_table_find(&table, TEXT_SVMA + 17, &function));
        assert_string_equal(function.name, "main.g");
        assert_int_equal(function.start_svma, TEXT_SVMA + 16);
        assert_int_equal(function.end_svma, TEXT_SVMA + 32);
        assert_true(go_table_find(&table, TEXT_SVMA, &function));
        assert_string_equal(function.name, "main.f");
        struct go_position position = go_table_position(&table, &function, TEXT_SVMA + 3);
        assert_string_equal(position.file, "/a.go");
        assert_int_equal(position.line, 7);
        assert_int_equal(go_table_position(&table, &function, TEXT_SVMA + 4).line, 5);
        assert_false(go_table_find(&table, TEXT_SVMA - 1, &function));
        assert_false(go_table_find(&table, TEXT_SVMA + 32, &function));
        go_table_close(&table);
    }
}

static void runs_hold_the_distance_of_sp(void **state)
{
    (void)state;
    struct buffer bytes = section(0xfffffff1, TEXT_SVMA);
    struct go_table table;
    assert_int_equal(go_table_parse(&table, &bytes, 0), 0);
    struct go_values run = go_table_values(&table, 1);
    assert_true(go_values_next(&run));
    assert_int_equal(run.value, 0);
    assert_int_equal(run.end, 4);
    assert_true(go_values_next(&run));
    assert_int_equal(run.value, 24);
    assert_int_equal(run.start, 4);
    assert_int_equal(run.end, 16);
    assert_false(go_values_next(&run));
    go_table_close(&table);
}

static void the_address_of_the_code_may_be_elsewhere(void **state)
{
    (void)state;
    struct buffer bytes = section(0xfffffff1, 0);
    struct go_table table;
    struct go_function function;
    assert_int_equal(go_table_parse(&table, &bytes, 0x5000), 0);
    assert_true(go_table_find(&table, 0x5000, &function));
    go_table_close(&table);
}

static void other_versions_are_refused(void **state)
{
    (void)state;
    struct buffer bytes = section(0xfffffffb, TEXT_SVMA);
    struct go_table table;
    assert_int_equal(go_table_parse(&table, &bytes, 0), -ENOENT);
    assert_int_equal(table.count, 0);
}

/* Every read outside of the section fails under the address sanitizer. */
static void look_at_all(struct go_table *table)
{
    for (uint64_t svma = TEXT_SVMA; svma < TEXT_SVMA + 40; svma++) {
        struct go_function function;
        if (!go_table_find(table, svma, &function))
            continue;
        assert_true(strlen(function.name) < table->bytes.size);
        struct go_position position = go_table_position(table, &function, svma);
        assert_true(!position.file || strlen(position.file) < table->bytes.size);
        struct go_values run = go_table_values(table, function.sp_values);
        for (int i = 0; i < 1000 && go_values_next(&run); i++)
            assert_true(run.end > run.start);
    }
}

static void cut_and_changed_tables_are_harmless(void **state)
{
    (void)state;
    struct buffer whole = section(0xfffffff1, TEXT_SVMA);
    for (size_t size = 0; size < whole.size; size++) {
        struct buffer cut = {0};
        struct go_table table;
        buffer_append(&cut, whole.bytes, size);
        if (go_table_parse(&table, &cut, 0) == 0)
            look_at_all(&table);
        go_table_close(&table);
    }
    for (size_t at = 0; at < 8 * whole.size; at++) {
        struct buffer changed = {0};
        struct go_table table;
        buffer_append(&changed, whole.bytes, whole.size);
        changed.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
        if (go_table_parse(&table, &changed, 0) == 0)
            look_at_all(&table);
        go_table_close(&table);
    }
    buffer_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_names_ranges_and_lines),
        cmocka_unit_test(runs_hold_the_distance_of_sp),
        cmocka_unit_test(the_address_of_the_code_may_be_elsewhere),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(cut_and_changed_tables_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
