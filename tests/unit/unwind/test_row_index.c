/* SPDX-License-Identifier: MIT */
/* The index over rows: it finds what the rows say, at every address, and one that makes no sense does no harm. */
#include "module_rows.h"

#include "unwind/row_index.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE 4096

/* Rows with their index, so that memory ends where the index does. */
static struct row_table table_of(const struct row *rows, size_t count, struct row_buckets buckets)
{
    size_t bytes = count * sizeof(*rows) + buckets.count * sizeof(uint32_t);
    size_t pages = (bytes + PAGE - 1) / PAGE;
    uint8_t *memory =
        mmap(NULL, (pages + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + pages * PAGE, PAGE, PROT_NONE), 0);
    struct row *place = (struct row *)(void *)(memory + pages * PAGE - bytes);
    memcpy(place, rows, count * sizeof(*rows));
    row_index_fill((uint32_t *)(void *)(place + count), buckets, rows, count);
    return (struct row_table){place, (uint32_t)count, buckets.count, buckets.shift};
}

static void forget(const struct row_table *table)
{
    size_t bytes = table->count * sizeof(struct row) + table->bucket_count * sizeof(uint32_t);
    size_t pages = (bytes + PAGE - 1) / PAGE;
    uintptr_t start = (uintptr_t)table->rows & ~(uintptr_t)(PAGE - 1);
    munmap((void *)start, (pages + 1) * PAGE);
}

/* Going up from row to row is the other way to find them all. */
static void assert_every_address(const struct row_table *table, uint32_t end)
{
    size_t row = 0;
    uint32_t differing = 0;
    for (uint32_t at = table->rows[0].start; at < end; at++) {
        while (row + 1 < table->count && table->rows[row + 1].start <= at)
            row++;
        differing += unwind_find_in_table(table, at) != table->rows[row].rule;
    }
    assert_int_equal(differing, 0);
}

static void assert_every_address_of(const char *path)
{
    struct elf_file *elf;
    struct unwind_module *module;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* not installed */
    assert_int_equal(elf_open(&elf, fd, NULL), 0);
    close(fd);
    assert_int_equal(unwind_module_open(&module, elf, NULL, NULL), 0);
    struct compiled_rows rows = rows_of(module);
    struct row_buckets buckets = row_index_plan(rows.rows, rows.count);
    assert_in_range(buckets.count, 2, rows.count / 4);
    struct row_table table = table_of(rows.rows, rows.count, buckets);
    assert_every_address(&table, rows.rows[rows.count - 1].start + 5000);
    assert_int_equal(unwind_find_in_table(&table, UINT32_MAX), rows.rows[rows.count - 1].rule);
    forget(&table);
    compile_free(&rows);
    unwind_module_close(module);
    elf_close(elf);
}

static void every_address_of_real_files_has_its_rule(void **state)
{
    (void)state;
    assert_every_address_of("/proc/self/exe");
    assert_every_address_of("/usr/lib/x86_64-linux-gnu/libc.so.6");
    assert_every_address_of("/usr/lib/x86_64-linux-gnu/libm.so.6");
    assert_every_address_of("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
    assert_every_address_of("/usr/lib/x86_64-linux-gnu/libelf.so.1");
    assert_every_address_of("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
}

/* Functions at both ends of 4 GiB, and none in between. */
static void rows_far_apart_have_a_small_index(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    struct row rows[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (struct row){(i < COUNT / 2 ? 8 : UINT32_MAX - COUNT) + i, i + 1};
    struct row_buckets buckets = row_index_plan(rows, COUNT);
    assert_in_range(buckets.count, 2, COUNT / 4);
    struct row_table table = table_of(rows, COUNT, buckets);
    assert_every_address(&table, 10000);
    assert_int_equal(row_kind(unwind_find_in_table(&table, 7)), ROW_NONE); /* before the first */
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(unwind_find_in_table(&table, rows[i].start), rows[i].rule);
    assert_int_equal(unwind_find_in_table(&table, UINT32_MAX), COUNT);
    assert_int_equal(unwind_find_in_table(&table, UINT32_MAX / 2), COUNT / 2);
    forget(&table);
}

static void few_rows_need_no_index(void **state)
{
    (void)state;
    const struct row rows[] = {{4, 1}, {9, 2}, {12, 3}};
    struct row_buckets buckets = row_index_plan(rows, 3);
    assert_int_equal(buckets.count, 0);
    assert_int_equal(row_index_plan(rows, 0).count, 0);
    struct row_table table = table_of(rows, 3, buckets);
    assert_every_address(&table, 100);
    forget(&table);
}

/* Rows of another module may be written over it while it is read; memory ends behind it. */
static void an_index_that_makes_no_sense_does_no_harm(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct row rows[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (struct row){16 * i, i + 1};
    struct row_table table = table_of(rows, COUNT, row_index_plan(rows, COUNT));
    uint32_t *words = (uint32_t *)(uintptr_t)(table.rows + COUNT);
    static const uint32_t odd[] = {0, COUNT - 1, COUNT, COUNT + 1, INT32_MAX, UINT32_MAX};
    srandom(1);
    for (int round = 0; round < 200; round++) {
        for (uint32_t i = 0; i < table.bucket_count; i++)
            words[i] = round % 2 ? (uint32_t)random() << 1 : odd[random() % 6];
        table.bucket_shift = (uint32_t)random() % 64;
        for (uint32_t at = 0; at < 16 * COUNT + 100; at += 7)
            assert_in_range(unwind_find_in_table(&table, at), 0, COUNT);
    }
    table.count = 0; /* and no rows at all */
    assert_int_equal(row_kind(unwind_find_in_table(&table, 0)), ROW_NONE);
    table.count = COUNT;
    forget(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address_of_real_files_has_its_rule),
        cmocka_unit_test(rows_far_apart_have_a_small_index),
        cmocka_unit_test(few_rows_need_no_index),
        cmocka_unit_test(an_index_that_makes_no_sense_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
