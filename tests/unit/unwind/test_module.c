/* SPDX-License-Identifier: MIT */
/* Modules out of real files and of the vDSO, and out of files that lack what others have. */
#include "module_rows.h"

#include "base/files/io.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "real_files.h"

#define FILE_BYTES_MAX (64u << 20)

/* This very program, as it lies on the disk. */
static struct buffer own_file(void)
{
    struct buffer file = {0};
    assert_int_equal(io_read_file("/proc/self/exe", &file, FILE_BYTES_MAX), 0);
    return file;
}

static struct elf_file *opened(const void *bytes, size_t size)
{
    struct elf_file *elf;
    int fd = memfd_create("module", MFD_CLOEXEC);
    assert_int_equal(io_write(fd, bytes, size), 0);
    assert_int_equal(elf_open(&elf, fd, NULL), 0);
    close(fd);
    return elf;
}

static struct unwind_module *module_of(const struct elf_file *elf)
{
    struct unwind_module *module;
    assert_int_equal(unwind_module_open(&module, elf, NULL, NULL), 0);
    return module;
}

/* Sorted, no two equal rules in a row, and nothing covered behind the last. */
static void assert_well_formed(const struct unwind_module *module)
{
    struct compiled_rows compiled = rows_of(module);
    const struct row *rows = compiled.rows;
    for (size_t i = 1; i < compiled.count; i++) {
        assert_true(rows[i].start > rows[i - 1].start);
        assert_true(rows[i].rule != rows[i - 1].rule);
    }
    if (compiled.count)
        assert_int_equal(row_kind(rows[compiled.count - 1].rule), ROW_NONE);
    compile_free(&compiled);
}

static void own_program_ends_at_its_entry(void **state)
{
    (void)state;
    struct buffer file = own_file();
    struct elf_file *elf = opened(file.bytes, file.size);
    struct unwind_module *module = module_of(elf);
    assert_well_formed(module);
    assert_true(unwind_module_fdes(module) > 20);
    assert_int_equal(bad_fdes(module), 0);
    assert_int_equal(row_kind(rule_at(module, elf_entry_svma(elf))), ROW_END);
    unwind_module_close(module);
    elf_close(elf);
    buffer_free(&file);
}

static void section_headers_are_not_needed(void **state)
{
    (void)state;
    struct buffer file = own_file();
    struct elf_file *whole = opened(file.bytes, file.size);
    Elf64_Ehdr header;
    memcpy(&header, file.bytes, sizeof(header));
    header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
    memcpy(file.bytes, &header, sizeof(header));
    struct elf_file *stripped = opened(file.bytes, file.size);
    struct unwind_module *expected = module_of(whole), *module = module_of(stripped);
    struct compiled_rows expected_rows = rows_of(expected), rows = rows_of(module);
    assert_int_equal(elf_section_count(stripped), 0);
    assert_int_equal(rows.count, expected_rows.count);
    assert_memory_equal(rows.rows, expected_rows.rows, rows.count * sizeof(*rows.rows));
    compile_free(&expected_rows);
    compile_free(&rows);
    unwind_module_close(expected);
    unwind_module_close(module);
    elf_close(whole);
    elf_close(stripped);
    buffer_free(&file);
}

static void assert_same_rules(const struct elf_file *elf)
{
    struct unwind_module *module = module_of(elf);
    struct compiled_rows compiled = rows_of(module);
    const struct row *rows = compiled.rows;
    for (size_t i = 0; i < compiled.count; i++) {
        assert_int_equal(unwind_module_rule(module, rows[i].start), rows[i].rule);
        uint32_t last = (i + 1 < compiled.count ? rows[i + 1].start : rows[i].start + 9) - 1;
        assert_int_equal(unwind_module_rule(module, last), rows[i].rule);
    }
    assert_int_equal(unwind_module_rule(module, UINT32_MAX), row_rule(ROW_NONE, ROW_FP_SAME, 0));
    compile_free(&compiled);
    unwind_module_close(module);
}

static void rules_found_one_by_one_are_those_of_the_rows(void **state)
{
    (void)state;
    check_real_files(assert_same_rules);
}

static void truncated_files_have_fewer_rows_or_none(void **state)
{
    (void)state;
    struct buffer file = own_file();
    for (size_t size = sizeof(Elf64_Ehdr); size < file.size; size += file.size / 97 + 1) {
        struct elf_file *elf = opened(file.bytes, size);
        struct unwind_module *module = module_of(elf);
        assert_well_formed(module);
        unwind_module_close(module);
        elf_close(elf);
    }
    buffer_free(&file);
}

static void another_machines_file_is_refused(void **state)
{
    (void)state;
    struct buffer file = own_file();
    file.bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_VAX;
    struct elf_file *elf = opened(file.bytes, file.size);
    struct unwind_module *module;
    struct error error = {.text = ""};
    assert_int_equal(unwind_module_open(&module, elf, NULL, &error), -ENOEXEC);
    assert_null(module);
    assert_non_null(strstr(error.text, "75"));
    elf_close(elf);
    buffer_free(&file);
}

static void kernels_vdso_is_a_module(void **state)
{
    (void)state;
    const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        skip();
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof(header));
    size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    struct elf_file *elf;
    assert_int_equal(elf_open_memory(&elf, image, size, NULL), 0);
    struct unwind_module *module = module_of(elf);
    assert_well_formed(module);
    assert_true(unwind_module_fdes(module) > 0);
    assert_int_equal(bad_fdes(module), 0);
    unwind_module_close(module);
    elf_close(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_program_ends_at_its_entry),
        cmocka_unit_test(section_headers_are_not_needed),
        cmocka_unit_test(rules_found_one_by_one_are_those_of_the_rows),
        cmocka_unit_test(truncated_files_have_fewer_rows_or_none),
        cmocka_unit_test(another_machines_file_is_refused),
        cmocka_unit_test(kernels_vdso_is_a_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
