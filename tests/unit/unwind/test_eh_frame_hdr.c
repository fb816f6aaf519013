/* SPDX-License-Identifier: MIT */
/* Functions found by .eh_frame_hdr are those that all records have, whatever the table says. */
#include "cfi_bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "real_files.h"

enum { FUNCTIONS = 4, FUNCTION_BYTES = 0x20 };

/* .eh_frame of functions next to each other, but for a gap before the last, and its table. */
struct made {
    struct buffer frame, header;
    size_t fdes[FUNCTIONS];
};

static uint64_t start_of(size_t i)
{
    return TEXT + 0x100 + (i + (i == FUNCTIONS - 1)) * FUNCTION_BYTES;
}

static void put_entry(struct made *made, size_t function)
{
    add_header_entry(&made->header, start_of(function), made->fdes[function]);
}

/* The functions lie in the section the other way round. */
static struct made make(void)
{
    struct made made = {0};
    size_t cie = add_cie(&made.frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    for (size_t i = FUNCTIONS; i-- > 0;)
        made.fdes[i] = add_fde(&made.frame, cie, start_of(i), FUNCTION_BYTES,
                               BYTES(0x41, 0x0e, (uint8_t)(16 + 8 * i)));
    begin_header(&made.header, FUNCTIONS);
    for (size_t i = 0; i < FUNCTIONS; i++)
        put_entry(&made, i);
    return made;
}

/* Takes the buffers over. */
static struct unwind_module *opened(struct made *made)
{
    struct module_bytes bytes = {.eh_frame = made->frame,
                                 .eh_frame_svma = FRAME_SVMA,
                                 .eh_frame_hdr = made->header,
                                 .eh_frame_hdr_svma = HEADER_SVMA,
                                 .text_svma = TEXT,
                                 .text_bytes = 0x10000};
    struct unwind_module *module;
    assert_int_equal(unwind_module_from_bytes(&module, &bytes, NULL), 0);
    return module;
}

static uint32_t rule_one_by_one(const struct unwind_module *module, uint64_t svma)
{
    return unwind_module_rule(module, (uint32_t)(svma - TEXT));
}

static void assert_functions(const struct unwind_module *module)
{
    const uint32_t nothing = row_rule(ROW_NONE, ROW_FP_SAME, 0);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        assert_int_equal(rule_one_by_one(module, start_of(i)), row_rule(ROW_SP, ROW_FP_SAME, 1));
        for (uint64_t at = 1; at < FUNCTION_BYTES; at++)
            assert_int_equal(rule_one_by_one(module, start_of(i) + at),
                             row_rule(ROW_SP, ROW_FP_SAME, (uint32_t)(2 + i)));
    }
    assert_int_equal(rule_one_by_one(module, start_of(0) - 1), nothing);
    assert_int_equal(rule_one_by_one(module, start_of(FUNCTIONS - 1) - 1), nothing);
    assert_int_equal(rule_one_by_one(module, start_of(FUNCTIONS - 1) + FUNCTION_BYTES), nothing);
}

static void functions_are_found_without_reading_the_others(void **state)
{
    (void)state;
    struct made made = make();
    struct unwind_module *module = opened(&made);
    assert_int_equal(rule_one_by_one(module, start_of(2) + 1), row_rule(ROW_SP, ROW_FP_SAME, 4));
    assert_true(module->index.is_by_header);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct cfi_entry *entry = &module->index.entries[i];
        assert_int_equal(entry->end - entry->start, i == 2 ? FUNCTION_BYTES : 0);
    }
    assert_functions(module);
    assert_false(module->index.is_by_header); /* since gaps were asked for */
    unwind_module_close(module);
}

static void steps_are_those_of_the_record(void **state)
{
    (void)state;
    struct made made = make();
    struct unwind_module *module = opened(&made);
    const uint64_t words[] = {1, 2, TEXT + 0x42};
    const struct stack_view stack = {0x7000, 0x7000 + sizeof(words), (const uint8_t *)words, NULL};
    struct full_regs regs = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
    regs.value[UNWIND_DWARF_SP] = 0x7000;
    bool is_signal_frame;
    assert_int_equal(unwind_module_step(module, start_of(1) + 1, &regs, &stack, &is_signal_frame),
                     UNWIND_OK);
    assert_int_equal(regs.value[UNWIND_DWARF_PC], TEXT + 0x42);
    assert_true(module->index.is_by_header);
    unwind_module_close(module);
}

/* What is not found by the table, or not as the record says, is found by way of all records. */
static void assert_changes_nothing(struct made *made)
{
    struct unwind_module *module = opened(made);
    assert_functions(module);
    assert_false(module->index.is_by_header);
    unwind_module_close(module);
}

static void a_table_that_leaves_functions_out_is_filled_up(void **state)
{
    (void)state;
    for (size_t left_out = 0; left_out < FUNCTIONS; left_out++) {
        struct made made = make();
        made.header.size = 8;
        buffer_u32(&made.header, FUNCTIONS - 1);
        for (size_t i = 0; i < FUNCTIONS; i++)
            if (i != left_out)
                put_entry(&made, i);
        assert_changes_nothing(&made);
    }
}

static void any_change_of_the_table_changes_nothing(void **state)
{
    (void)state;
    struct made whole = make();
    for (size_t at = 0; at < whole.header.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct made made = make();
            made.header.bytes[at] ^= (uint8_t)(1u << bit);
            assert_changes_nothing(&made);
        }
    for (size_t size = 1; size < whole.header.size; size++) {
        struct made made = make();
        made.header.size = size;
        assert_changes_nothing(&made);
    }
    buffer_free(&whole.frame);
    buffer_free(&whole.header);
}

static void records_that_share_no_cie_are_found(void **state)
{
    (void)state;
    struct made made = make();
    enum { CIES = 300 };
    buffer_clear(&made.frame);
    made.header.size = 8;
    buffer_u32(&made.header, CIES);
    for (size_t i = 0; i < CIES; i++) {
        size_t cie = add_cie(&made.frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
        size_t fde = add_fde(&made.frame, cie, TEXT + i * 16, 16, BYTES(0x41, 0x0e, 24));
        add_header_entry(&made.header, TEXT + i * 16, fde);
    }
    struct unwind_module *module = opened(&made);
    for (size_t i = 0; i < CIES; i++)
        assert_int_equal(rule_one_by_one(module, TEXT + i * 16 + 1),
                         row_rule(ROW_SP, ROW_FP_SAME, 3));
    unwind_module_close(module);
}

static void assert_same_rules(const struct elf_file *elf)
{
    struct unwind_module *all, *few;
    assert_int_equal(unwind_module_open(&all, elf, NULL, NULL), 0);
    assert_int_equal(unwind_module_open_sparse(&few, elf, NULL, NULL), 0);
    assert_true(few->index.is_by_header);
    size_t by_header = 0;
    for (size_t i = 0; i < all->index.entry_count; i++) {
        const struct cfi_entry *entry = &all->index.entries[i];
        for (uint32_t at = entry->start; at < entry->end; at += 7)
            assert_int_equal(unwind_module_rule(few, at), unwind_module_rule(all, at));
        by_header += few->index.is_by_header;
    }
    assert_int_equal(by_header, all->index.entry_count);
    unwind_module_close(all);
    unwind_module_close(few);
}

static void rules_of_real_files_are_the_same(void **state)
{
    (void)state;
    check_real_files(assert_same_rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_without_reading_the_others),
        cmocka_unit_test(steps_are_those_of_the_record),
        cmocka_unit_test(a_table_that_leaves_functions_out_is_filled_up),
        cmocka_unit_test(any_change_of_the_table_changes_nothing),
        cmocka_unit_test(records_that_share_no_cie_are_found),
        cmocka_unit_test(rules_of_real_files_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
