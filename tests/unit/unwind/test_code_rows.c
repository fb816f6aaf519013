/* SPDX-License-Identifier: MIT */
/*
 * Rows derived from code, held against the CFI that compilers and authors wrote for the same code: in real files, as if
 * there were no CFI. And code without CFI.
 */
#include "unwind/code/code_rows.h"
#include "unwind/module.h"
#include "unwind/rows/row_index.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "real_files.h"

struct compared {
    size_t same, different; /* bytes of code with an SP rule by both */
};

static uint32_t rule_at(const struct compiled_rows *rows, uint32_t at)
{
    size_t i = 0;
    while (i + 1 < rows->count && rows->rows[i + 1].start <= at)
        i++;
    return rows->count && rows->rows[i].start <= at ? rows->rows[i].rule
                                                    : row_rule(ROW_NONE, ROW_FP_SAME, 0);
}

/* Both lists row by row: a rule changes where one of them begins. */
static void compare(const struct compiled_rows *derived, const struct compiled_rows *cfi,
                    uint32_t start, uint32_t end, struct compared *compared)
{
    size_t a = 0, b = 0;
    for (uint32_t at = start; at < end && derived->count && cfi->count; at++) {
        while (a + 1 < derived->count && derived->rows[a + 1].start <= at)
            a++;
        while (b + 1 < cfi->count && cfi->rows[b + 1].start <= at)
            b++;
        uint32_t one = derived->rows[a].rule, other = cfi->rows[b].rule;
        if (row_kind(one) != ROW_SP || row_kind(other) != ROW_SP)
            continue;
        compared->same += row_n(one) == row_n(other);
        compared->different += row_n(one) != row_n(other);
    }
}

static struct compared compared; /* of all files */

static void compare_rows_with_cfi(const struct elf_file *elf)
{
    struct unwind_module *module;
    struct code_image *image;
    assert_int_equal(unwind_module_open_lazy(&module, elf, UINT64_MAX, NULL, NULL), 0);
    assert_int_equal(code_image_open(&image, elf), 0);
    uint64_t base_svma = unwind_module_base_svma(module);
    for (uint32_t start = 0; start < unwind_module_text_bytes(module); start += ROW_PIECE_BYTES) {
        struct compiled_rows derived = {0}, cfi = {0};
        uint32_t end = start + ROW_PIECE_BYTES;
        assert_int_equal(unwind_module_compile(module, start, end, &cfi), 0);
        assert_int_equal(code_rows_fill(image, base_svma, start, end, &derived), 0);
        for (size_t i = 1; i < derived.count; i++)
            assert_true(derived.rows[i].start > derived.rows[i - 1].start);
        compare(&derived, &cfi, start, end, &compared);
        compile_free(&derived);
        compile_free(&cfi);
    }
    code_image_close(image);
    unwind_module_close(module);
}

static void rows_from_code_are_those_of_the_cfi(void **state)
{
    (void)state;
    check_real_files(compare_rows_with_cfi);
    printf("%zu bytes of code with the rule of the CFI, %zu with another\n", compared.same,
           compared.different);
    assert_true(compared.same > 20000);
    assert_true(compared.different * 200 < compared.same);
}

struct program {
    struct elf_file *elf;
    struct unwind_module *module;
    struct code_image *image;
    struct compiled_rows rows;
    uint64_t base_svma;
};

static void open_program(struct program *p, const char *path)
{
    *p = (struct program){.elf = open_real_file(path)};
    assert_non_null(p->elf);
    assert_int_equal(unwind_module_open_lazy(&p->module, p->elf, UINT64_MAX, NULL, NULL), 0);
    assert_int_equal(code_image_open(&p->image, p->elf), 0);
    p->base_svma = unwind_module_base_svma(p->module);
    assert_int_equal(unwind_module_compile(p->module, 0, ROW_PIECE_BYTES, &p->rows), 0);
}

static void close_program(struct program *p)
{
    compile_free(&p->rows);
    code_image_close(p->image);
    unwind_module_close(p->module);
    elf_close(p->elf);
}

static uint32_t rule_of(const struct program *p, const char *name, uint32_t bytes)
{
    const struct code_name of_function = code_name_of(name);
    uint64_t svma = code_image_find(p->image, &of_function);
    assert_true(svma != 0);
    return rule_at(&p->rows, (uint32_t)(svma - p->base_svma) + bytes);
}

static void fill(struct program *p)
{
    assert_int_equal(code_rows_fill(p->image, p->base_svma, 0, ROW_PIECE_BYTES, &p->rows), 0);
}

static void gaps_are_filled_and_cfi_stays(void **state)
{
    (void)state;
    struct program p;
    open_program(&p, TARGETS_DIR "/by_hand");
    uint32_t of_main = rule_of(&p, "main", 0), behind = rule_of(&p, "main", 40);
    assert_int_equal(row_kind(rule_of(&p, "hand_pushes", 0)), ROW_NONE);
    fill(&p);
    assert_int_equal(rule_of(&p, "hand_leaf", 0), row_rule(ROW_SP, ROW_FP_SAME, 1));
    assert_int_equal(rule_of(&p, "hand_pushes", 0), row_rule(ROW_SP, ROW_FP_SAME, 1));
    assert_int_equal(rule_of(&p, "hand_pushes", 1), row_rule(ROW_SP, ROW_FP_SAME, 2));
    assert_int_equal(rule_of(&p, "hand_pushes", 6), row_rule(ROW_SP, 3, 8));
    assert_int_equal(row_kind(rule_of(&p, "hand_realigns", 12)), ROW_NONE);
    assert_int_equal(rule_of(&p, "hand_dispatches", 2), row_rule(ROW_SP, 3, 3));
    assert_int_equal(row_kind(rule_of(&p, "hand_dispatches", 32)), ROW_NONE); /* its loop */
    assert_int_equal(rule_of(&p, "main", 0), of_main);
    assert_int_equal(rule_of(&p, "main", 40), behind);
    close_program(&p);
}

static void cfi_wins_over_code(void **state)
{
    (void)state;
    struct program p;
    open_program(&p, TARGETS_DIR "/by_hand");
    enum { LOOP = 9, BEHIND = 17 }; /* bytes */
    uint32_t by_cfi = row_rule(ROW_SP, ROW_FP_SAME, 1);
    assert_int_equal(rule_of(&p, "hand_conflicts", LOOP), by_cfi);
    fill(&p);
    assert_int_equal(row_kind(rule_of(&p, "hand_conflicts", 1)), ROW_NONE);
    assert_int_equal(rule_of(&p, "hand_conflicts", LOOP), by_cfi);
    assert_int_equal(row_kind(rule_of(&p, "hand_conflicts", BEHIND)), ROW_NONE);
    assert_int_equal(p.rows.cfi_conflicts, 1);
    close_program(&p);
}

/* The byte before the code to which a fiber's first function returns: the end of a jump. */
static void the_end_of_a_fiber_is_a_root(void **state)
{
    (void)state;
    struct program p;
    open_program(&p, TARGETS_DIR "/fcontexts");
    fill(&p);
    const struct code_name name = code_name_of("fiber_end");
    uint64_t end_svma = code_image_find(p.image, &name);
    assert_true(end_svma != 0);
    uint32_t end = (uint32_t)(end_svma - p.base_svma);
    assert_int_equal(row_kind(rule_at(&p.rows, end - 1)), ROW_END);
    assert_int_equal(row_kind(rule_at(&p.rows, end - 2)), ROW_SP);
    close_program(&p);
}

/* The address by nm. */
static uint64_t svma_by_nm(const char *program, const char *name)
{
    char line[512], found[256];
    uint64_t svma = 0, at;
    (void)snprintf(line, sizeof(line), "nm " TARGETS_DIR "/%s", program);
    FILE *nm = popen(line, "r");
    assert_non_null(nm);
    while (fgets(line, sizeof(line), nm))
        if (sscanf(line, "%" SCNx64 " %*c %255s", &at, found) == 2 && strcmp(found, name) == 0)
            svma = at;
    assert_int_equal(pclose(nm), 0);
    assert_true(svma != 0);
    return svma;
}

/* More code than is scanned: only symbols give the starts of functions without CFI. */
static void a_large_file_is_searched_where_symbols_have_sizes(void **state)
{
    (void)state;
    /* Before large_unnamed() lies the function without a symbol. */
    const uint64_t kernel_svma = svma_by_nm("large_code", "large_kernel");
    const uint64_t unnamed_svma = svma_by_nm("large_code", "large_unnamed") - 8;
    struct program p = {.elf = open_real_file(TARGETS_DIR "/large_code")};
    assert_non_null(p.elf);
    assert_int_equal(unwind_module_open_lazy(&p.module, p.elf, UINT64_MAX, NULL, NULL), 0);
    assert_int_equal(code_image_open_in_pieces(&p.image, open_real_file(TARGETS_DIR "/large_code")),
                     0);
    assert_false(code_image_is_entered(p.image));
    assert_true(code_image_knows_start(p.image, kernel_svma + 8));
    assert_false(code_image_knows_start(p.image, unnamed_svma));
    assert_false(code_image_knows_start(p.image, svma_by_nm("large_code", "Builtins_made_up")));
    p.base_svma = unwind_module_base_svma(p.module);
    const uint32_t kernel = (uint32_t)(kernel_svma - p.base_svma);
    const uint32_t start = kernel / ROW_PIECE_BYTES * ROW_PIECE_BYTES;
    assert_int_equal(unwind_module_compile(p.module, start, start + ROW_PIECE_BYTES, &p.rows), 0);
    assert_int_equal(row_kind(rule_at(&p.rows, kernel)), ROW_NONE);
    assert_int_equal(code_rows_fill(p.image, p.base_svma, start, start + ROW_PIECE_BYTES, &p.rows),
                     0);
    assert_int_equal(row_kind(rule_at(&p.rows, kernel - 1)), ROW_NONE);
    assert_int_equal(row_kind(rule_at(&p.rows, kernel)), ROW_SEARCH);
    assert_int_equal(row_kind(rule_at(&p.rows, kernel + 40)), ROW_SEARCH);
    assert_int_equal(row_kind(rule_at(&p.rows, (uint32_t)(unnamed_svma - p.base_svma))), ROW_NONE);
    p.rows.count = 0; /* a range that ends within the function */
    assert_int_equal(code_rows_fill(p.image, p.base_svma, kernel - 16, kernel + 16, &p.rows), 0);
    assert_int_equal(p.rows.count, 2);
    assert_int_equal(row_kind(p.rows.rows[1].rule), ROW_SEARCH);
    close_program(&p);
}

/* Callers of entered code need no start: all code without CFI is searched, also without symbols. */
static void a_large_file_is_searched_where_a_function_enters_code(void **state)
{
    (void)state;
    const uint64_t enter_svma = svma_by_nm("entered_code", "enter");
    struct program p = {.elf = open_real_file(TARGETS_DIR "/entered_code")};
    assert_non_null(p.elf);
    assert_int_equal(unwind_module_open_lazy(&p.module, p.elf, UINT64_MAX, NULL, NULL), 0);
    assert_int_equal(
        code_image_open_in_pieces(&p.image, open_real_file(TARGETS_DIR "/entered_code")), 0);
    assert_true(code_image_is_entered(p.image));
    assert_false(code_image_knows_start(p.image, enter_svma - 4096));
    p.base_svma = unwind_module_base_svma(p.module);
    const uint32_t enter = (uint32_t)(enter_svma - p.base_svma);
    const uint32_t start = enter / ROW_PIECE_BYTES * ROW_PIECE_BYTES;
    assert_int_equal(unwind_module_compile(p.module, start, start + ROW_PIECE_BYTES, &p.rows), 0);
    assert_int_equal(code_rows_fill(p.image, p.base_svma, start, start + ROW_PIECE_BYTES, &p.rows),
                     0);
    assert_int_equal(row_kind(rule_at(&p.rows, enter - 1)), ROW_SEARCH);
    assert_int_equal(row_kind(rule_at(&p.rows, enter)), ROW_SP);
    p.rows.count = 0; /* a piece without CFI and without a start */
    assert_int_equal(code_rows_fill(p.image, p.base_svma, 1 << 20, 2 << 20, &p.rows), 0);
    assert_int_equal(p.rows.count, 1);
    assert_int_equal(row_kind(p.rows.rows[0].rule), ROW_SEARCH);
    close_program(&p);
}

static void a_program_without_cfi_has_rows_and_a_root(void **state)
{
    (void)state;
    struct program p;
    open_program(&p, TARGETS_DIR "/steps_optimised");
    p.rows.count = 0; /* not even that of the start files */
    fill(&p);
    assert_int_equal(rule_of(&p, "main", 0), row_rule(ROW_SP, ROW_FP_SAME, 1));
    uint64_t entry_svma = code_image_entry_svma(p.image);
    assert_int_equal(row_kind(rule_at(&p.rows, (uint32_t)(entry_svma - p.base_svma))), ROW_END);
    close_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_from_code_are_those_of_the_cfi),
        cmocka_unit_test(gaps_are_filled_and_cfi_stays),
        cmocka_unit_test(cfi_wins_over_code),
        cmocka_unit_test(the_end_of_a_fiber_is_a_root),
        cmocka_unit_test(a_large_file_is_searched_where_symbols_have_sizes),
        cmocka_unit_test(a_large_file_is_searched_where_a_function_enters_code),
        cmocka_unit_test(a_program_without_cfi_has_rows_and_a_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
