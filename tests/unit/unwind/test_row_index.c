/* SPDX-License-Identifier: MIT */
/*
 * The index over rows that are compiled by pieces: it finds what the rows of the whole file say, at every address of the
 * pieces that it has, and one that makes no sense does no harm.
 */
#include "module_rows.h"

#include "unwind/rows/row_index.h"
#include "wire/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "real_files.h"

#define PAGE 4096
#define CELLS (UINT64_C(1) << 21)

/* Index and rows, one behind the other as they are added. */
struct shared {
    struct row *cells;
    uint32_t used;
    struct row_buckets buckets; /* of the index, at the first cell */
    struct row_table table;
};

static struct shared shared_of(uint32_t text_bytes)
{
    struct shared shared = {.buckets = row_index_plan(text_bytes)};
    shared.cells = mmap(NULL, CELLS * sizeof(*shared.cells), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(shared.cells, MAP_FAILED);
    shared.used = shared.buckets.count;
    shared.table = (struct row_table){.rows = shared.cells,
                                      .row_count = CELLS,
                                      .buckets = (const uint64_t *)(const void *)shared.cells,
                                      .bucket_count = shared.buckets.count,
                                      .bucket_shift = shared.buckets.shift};
    return shared;
}

static void forget(struct shared *shared)
{
    munmap(shared->cells, CELLS * sizeof(*shared->cells));
}

static void add_piece(struct shared *shared, uint32_t piece, const struct row *rows, size_t count)
{
    assert_true(shared->used + count <= CELLS);
    struct row *place = shared->cells + shared->used;
    memcpy(place, rows, count * sizeof(*rows));
    row_index_publish((uint64_t *)(void *)shared->cells, shared->buckets, piece, place, count,
                      shared->used);
    shared->used += (uint32_t)count;
}

static void compile_piece(struct shared *shared, const struct unwind_module *module, uint32_t piece)
{
    struct compiled_rows rows = {0};
    uint32_t start = piece << ROW_PIECE_SHIFT;
    assert_int_equal(unwind_module_compile(module, start, (uint64_t)start + ROW_PIECE_BYTES, &rows),
                     0);
    assert_true(rows.count > 0 && rows.rows[0].start <= start);
    add_piece(shared, piece, rows.rows, rows.count);
    compile_free(&rows);
}

/* Going up from row to row of the whole file is the other way to find them all. */
static void assert_piece(const struct shared *shared, const struct compiled_rows *whole,
                         uint32_t piece, bool is_known)
{
    uint64_t at = (uint64_t)piece << ROW_PIECE_SHIFT, end = at + ROW_PIECE_BYTES;
    size_t row = 0;
    uint32_t differing = 0;
    for (; at < end && at >> shared->buckets.shift < shared->buckets.count; at++) {
        while (row + 1 < whole->count && whole->rows[row + 1].start <= at)
            row++;
        uint32_t rule;
        bool found = unwind_find_in_table(&shared->table, (uint32_t)at, &rule);
        differing += found != is_known || (found && rule != whole->rows[row].rule);
    }
    assert_int_equal(differing, 0);
}

/* The pieces from the last to the first, but for every third. */
static void assert_pieces_of(const char *path)
{
    struct unwind_module *module;
    struct elf_file *elf = open_real_file(path);
    if (!elf)
        return;
    assert_int_equal(unwind_module_open(&module, elf, NULL, NULL), 0);
    struct compiled_rows whole = rows_of(module);
    struct shared shared = shared_of(unwind_module_text_bytes(module));
    uint32_t pieces = (unwind_module_text_bytes(module) - 1) / ROW_PIECE_BYTES + 1;
    for (uint32_t piece = pieces; piece-- > 0;)
        if (piece % 3 != 1)
            compile_piece(&shared, module, piece);
    for (uint32_t piece = 0; piece < pieces; piece++)
        assert_piece(&shared, &whole, piece, piece % 3 != 1);
    uint32_t rule;
    assert_true(unwind_find_in_table(&shared.table, UINT32_MAX, &rule)); /* behind all code */
    assert_int_equal(row_kind(rule), ROW_NONE);
    forget(&shared);
    compile_free(&whole);
    unwind_module_close(module);
    elf_close(elf);
}

static void every_address_of_real_files_has_its_rule(void **state)
{
    (void)state;
    assert_pieces_of("/proc/self/exe");
    assert_pieces_of("/usr/lib/x86_64-linux-gnu/libc.so.6");
    assert_pieces_of("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"); /* its entry has no FDE */
    assert_pieces_of("/usr/lib/x86_64-linux-gnu/libm.so.6");
    assert_pieces_of("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
    assert_pieces_of("/usr/lib/x86_64-linux-gnu/libelf.so.1");
    assert_pieces_of("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
}

/* As of a function that is larger than a piece, or of a gap. */
static void a_row_that_began_earlier_holds_in_all_of_a_piece(void **state)
{
    (void)state;
    struct shared shared = shared_of(4 * ROW_PIECE_BYTES);
    const struct row rows[] = {{3, 11}, {2 * ROW_PIECE_BYTES + 100, 22}};
    uint32_t rule;
    add_piece(&shared, 2, rows, 2);
    assert_true(unwind_find_in_table(&shared.table, 2 * ROW_PIECE_BYTES, &rule));
    assert_int_equal(rule, 11);
    assert_true(unwind_find_in_table(&shared.table, 2 * ROW_PIECE_BYTES + 100, &rule));
    assert_int_equal(rule, 22);
    assert_true(unwind_find_in_table(&shared.table, 3 * ROW_PIECE_BYTES - 1, &rule));
    assert_int_equal(rule, 22);
    assert_false(unwind_find_in_table(&shared.table, 3 * ROW_PIECE_BYTES, &rule));
    assert_false(unwind_find_in_table(&shared.table, 2 * ROW_PIECE_BYTES - 1, &rule));
    forget(&shared);
}

/* Functions at both ends of 4 GiB, and none in between. */
static void the_index_of_4_gib_is_small(void **state)
{
    (void)state;
    struct shared shared = shared_of(UINT32_MAX);
    assert_in_range(shared.buckets.count, 1, SESSION_ROWS / 15);
    const uint32_t last = UINT32_MAX >> ROW_PIECE_SHIFT;
    const struct row low[] = {{0, 11}, {8, 22}};
    const struct row high[] = {{8, 22}, {UINT32_MAX - 5, 33}};
    uint32_t rule;
    add_piece(&shared, 0, low, 2);
    add_piece(&shared, last, high, 2);
    assert_true(unwind_find_in_table(&shared.table, 7, &rule));
    assert_int_equal(rule, 11);
    assert_true(unwind_find_in_table(&shared.table, UINT32_MAX - 6, &rule));
    assert_int_equal(rule, 22);
    assert_true(unwind_find_in_table(&shared.table, UINT32_MAX, &rule));
    assert_int_equal(rule, 33);
    assert_false(unwind_find_in_table(&shared.table, UINT32_MAX / 2, &rule));
    forget(&shared);
}

static void no_code_has_no_index(void **state)
{
    (void)state;
    assert_int_equal(row_index_plan(0).count, 0);
    assert_int_equal(row_index_plan(1).count, 1);
    const struct row_table table = {0};
    uint32_t rule;
    assert_true(unwind_find_in_table(&table, 0, &rule));
    assert_int_equal(row_kind(rule), ROW_NONE);
}

/* Those of another module may be written over it while it is read; memory ends behind the rows. */
static void an_index_that_makes_no_sense_does_no_harm(void **state)
{
    (void)state;
    enum { COUNT = PAGE / sizeof(struct row), BUCKETS = 16 };
    uint8_t *memory =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_NONE), 0);
    struct row *rows = (struct row *)(void *)memory;
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (struct row){16 * i, i + 1};
    uint64_t words[BUCKETS];
    struct row_table table = {rows, COUNT, words, BUCKETS, 0};
    static const uint32_t odd[] = {0, COUNT - 1, COUNT, COUNT + 1, INT32_MAX, UINT32_MAX};
    srandom(1);
    for (int round = 0; round < 2000; round++) {
        for (uint32_t i = 0; i < BUCKETS; i++)
            words[i] = round % 2 ? row_bucket((uint32_t)random() << 1, (uint32_t)random() << 1)
                                 : row_bucket(odd[random() % 6], odd[random() % 6]);
        table.bucket_shift = (uint32_t)random() % 64;
        for (uint32_t at = 0; at < 16 * COUNT + 100; at += 97) {
            uint32_t rule;
            unwind_find_in_table(&table, at, &rule);
            assert_in_range(rule, 0, COUNT);
        }
    }
    munmap(memory, 2 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address_of_real_files_has_its_rule),
        cmocka_unit_test(a_row_that_began_earlier_holds_in_all_of_a_piece),
        cmocka_unit_test(the_index_of_4_gib_is_small),
        cmocka_unit_test(no_code_has_no_index),
        cmocka_unit_test(an_index_that_makes_no_sense_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
