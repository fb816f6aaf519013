/* SPDX-License-Identifier: MIT */
/* What .eh_frame_hdr leads to, piece by piece, are the rows that all records have; or none, if the table lies. */
#include "cfi_bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "real_files.h"

#include "base/clock.h"
#include "unwind/rows/row_index.h"
#include "unwind/rows/row_room.h"

enum { PIECES = 3, TEXT_BYTES = PIECES * ROW_PIECE_BYTES - 0x100 };

struct function {
    uint32_t start, bytes; /* start: less the base */
};

/* Of .eh_frame, the functions the other way round; each has another frame size. */
struct made {
    struct buffer frame, header;
    size_t fdes[16];
};

static void put_entry(struct made *made, const struct function *function, size_t fde)
{
    add_header_entry(&made->header, TEXT + function->start, made->fdes[fde]);
}

static struct made make(const struct function *functions, size_t count)
{
    struct made made = {0};
    size_t cie = add_cie(&made.frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    for (size_t i = count; i-- > 0;)
        made.fdes[i] = add_fde(&made.frame, cie, TEXT + functions[i].start, functions[i].bytes,
                               BYTES(0x41, 0x0e, (uint8_t)(16 + 8 * i)));
    begin_header(&made.header, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_entry(&made, &functions[i], i);
    return made;
}

/* Takes the buffers over. */
static struct unwind_module *opened_in(struct row_room *room, struct made *made)
{
    struct module_bytes bytes = {.eh_frame = made->frame,
                                 .eh_frame_svma = FRAME_SVMA,
                                 .eh_frame_hdr = made->header,
                                 .eh_frame_hdr_svma = HEADER_SVMA,
                                 .is_lazy = true,
                                 .room = room,
                                 .text_svma = TEXT,
                                 .text_bytes = TEXT_BYTES,
                                 .entry_svma = TEXT + 0x80};
    struct unwind_module *module;
    assert_int_equal(unwind_module_from_bytes(&module, &bytes, NULL), 0);
    return module;
}

static struct unwind_module *opened(struct made *made)
{
    return opened_in(NULL, made);
}

static struct unwind_module *opened_without_table(struct made *made)
{
    buffer_free(&made->header);
    struct unwind_module *module = opened(made);
    assert_null(module->pieces);
    return module;
}

static struct compiled_rows piece_of(const struct unwind_module *module, uint32_t piece)
{
    struct compiled_rows rows = {0};
    uint32_t start = piece << ROW_PIECE_SHIFT;
    assert_int_equal(unwind_module_compile(module, start, (uint64_t)start + ROW_PIECE_BYTES, &rows),
                     0);
    return rows;
}

static void assert_same_pieces(const struct unwind_module *module, const struct unwind_module *all)
{
    uint32_t pieces = (unwind_module_text_bytes(all) - 1) / ROW_PIECE_BYTES + 1;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        struct compiled_rows rows = piece_of(module, piece), expected = piece_of(all, piece);
        assert_int_equal(rows.count, expected.count);
        assert_memory_equal(rows.rows, expected.rows, rows.count * sizeof(*rows.rows));
        compile_free(&rows);
        compile_free(&expected);
    }
}

/* A gap with the entry point, functions over the bounds of pieces, next to each other, one inside another, and a piece
 * without any. */
static const struct function odd_functions[] = {
    {0x1000, 0x20},
    {0x1020, 0x30},
    {0x1100, 0x200},
    {0x1180, 0x10},
    {ROW_PIECE_BYTES - 0x10, 0x20},
    {ROW_PIECE_BYTES + 0x10, 0x8},
    {2 * ROW_PIECE_BYTES, 0x40},
    {TEXT_BYTES - 0x20, 0x20},
};
static const struct function spanning_functions[] = {{0x10, 2 * ROW_PIECE_BYTES + 0x100}};
static const struct function far_functions[] = {{2 * ROW_PIECE_BYTES + 0x500, 0x40}};

static void pieces_are_those_of_all_records(void **state)
{
    (void)state;
    const struct {
        const struct function *functions;
        size_t count;
    } cases[] = {{odd_functions, sizeof(odd_functions) / sizeof(odd_functions[0])},
                 {spanning_functions, 1},
                 {far_functions, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made = make(cases[i].functions, cases[i].count);
        struct unwind_module *module = opened(&made);
        assert_non_null(module->pieces);
        assert_int_equal(unwind_module_fdes(module), cases[i].count);
        made = make(cases[i].functions, cases[i].count);
        struct unwind_module *all = opened_without_table(&made);
        assert_same_pieces(module, all);
        for (uint32_t at = 0; at < TEXT_BYTES; at++)
            assert_int_equal(unwind_module_rule(module, at), unwind_module_rule(all, at));
        unwind_module_close(module);
        unwind_module_close(all);
    }
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Time for a piece with as many listed functions as fit, all with their record at the same place. */
static uint64_t time_of_records_at(size_t place)
{
    enum { COUNT = 4096, ZEROS = 1 << 20 };
    struct made made = make(odd_functions, 1);
    buffer_zeros(&made.frame, ZEROS);
    made.header.size = 8;
    buffer_u32(&made.header, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        add_header_entry(&made.header, TEXT + 0x1000 + i, place ? place : made.fdes[0]);
    struct unwind_module *module = opened(&made);
    const uint64_t start_ns = cpu_ns();
    struct compiled_rows rows = piece_of(module, 0);
    const uint64_t took_ns = cpu_ns() - start_ns;
    compile_free(&rows);
    unwind_module_close(module);
    return took_ns;
}

/* Each search for a record behind a megabyte of zeros takes 10 000 times as long. */
static void records_are_not_searched_behind_their_place(void **state)
{
    (void)state;
    enum { IN_THE_ZEROS = 4096 };
    assert_true(time_of_records_at(IN_THE_ZEROS) < 100 * time_of_records_at(0));
}

static void only_the_entry_function_is_a_root_without_cfi(void **state)
{
    (void)state;
    struct made made = make(odd_functions, 1);
    struct unwind_module *module = opened(&made);
    assert_int_equal(row_kind(unwind_module_rule(module, 0x7f)), ROW_NONE);
    assert_int_equal(row_kind(unwind_module_rule(module, 0x80)), ROW_END);
    assert_int_equal(row_kind(unwind_module_rule(module, 0xff)), ROW_END);
    assert_int_equal(row_kind(unwind_module_rule(module, 0x100)), ROW_NONE);
    unwind_module_close(module);
}

static void steps_are_those_of_the_record(void **state)
{
    (void)state;
    struct made made = make(odd_functions, 2);
    struct unwind_module *module = opened(&made);
    const uint64_t words[] = {1, 2, TEXT + 0x42};
    const struct stack_view stack = {0x7000, 0x7000 + sizeof(words), (const uint8_t *)words, NULL};
    struct full_regs regs = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
    regs.value[UNWIND_DWARF_SP] = 0x7000;
    bool is_signal_frame;
    assert_int_equal(unwind_module_step(module, TEXT + 0x1021, &regs, &stack, &is_signal_frame),
                     UNWIND_OK);
    assert_int_equal(regs.value[UNWIND_DWARF_PC], TEXT + 0x42);
    assert_int_equal(unwind_module_step(module, TEXT + 0x1050, &regs, &stack, &is_signal_frame),
                     UNWIND_NO_ROW);
    assert_int_equal(unwind_module_step(module, TEXT + TEXT_BYTES, &regs, &stack, &is_signal_frame),
                     UNWIND_NO_ROW);
    unwind_module_close(module);
}

/* As many as differ: other rules than all records have, and not none. */
static size_t count_wrong(const struct compiled_rows *rows, const struct compiled_rows *expected,
                          const struct unwind_module *module, uint32_t piece)
{
    size_t wrong = 0;
    uint32_t start = piece << ROW_PIECE_SHIFT;
    for (size_t i = 0; i < 2 * expected->count + 1; i++) {
        uint32_t at = i == 0 ? start : expected->rows[(i - 1) / 2].start + (i % 2 ? 0 : 3);
        if (at < start || at >= TEXT_BYTES)
            continue;
        uint32_t rule = unwind_find_rule(expected->rows, expected->count, at);
        uint32_t row = unwind_find_rule(rows->rows, rows->count, at);
        uint32_t single = unwind_module_rule(module, at);
        wrong += row_kind(row) != ROW_NONE && row != rule;
        wrong += row_kind(single) != ROW_NONE && single != rule;
    }
    return wrong;
}

static const struct function plain_functions[] = {
    {0x1000, 0x20},
    {0x1020, 0x30},
    {ROW_PIECE_BYTES - 0x10, 0x20},
    {ROW_PIECE_BYTES + 0x10, 0x8},
    {2 * ROW_PIECE_BYTES, 0x40},
    {TEXT_BYTES - 0x20, 0x20},
};
enum { PLAIN_FUNCTIONS = sizeof(plain_functions) / sizeof(plain_functions[0]) };

/* Takes the buffers over. */
static void assert_no_lie_is_believed(struct made *made)
{
    struct unwind_module *module = opened(made);
    struct made whole = make(plain_functions, PLAIN_FUNCTIONS);
    struct unwind_module *all = opened_without_table(&whole);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        struct compiled_rows rows = piece_of(module, piece), expected = piece_of(all, piece);
        assert_int_equal(count_wrong(&rows, &expected, module, piece), 0);
        compile_free(&rows);
        compile_free(&expected);
    }
    unwind_module_close(module);
    unwind_module_close(all);
}

static void a_table_that_lies_hides_rows_but_makes_none(void **state)
{
    (void)state;
    struct made whole = make(plain_functions, PLAIN_FUNCTIONS);
    for (size_t at = 0; at < whole.header.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct made made = make(plain_functions, PLAIN_FUNCTIONS);
            made.header.bytes[at] ^= (uint8_t)(1u << bit);
            assert_no_lie_is_believed(&made);
        }
    for (size_t size = 0; size < whole.header.size; size++) {
        struct made made = make(plain_functions, PLAIN_FUNCTIONS);
        made.header.size = size;
        assert_no_lie_is_believed(&made);
    }
    buffer_free(&whole.frame);
    buffer_free(&whole.header);
}

/* Each of two entries in the other's place, and each twice. */
static void a_table_that_is_not_in_order_hides_rows_but_makes_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLAIN_FUNCTIONS; i++)
        for (size_t j = 0; j < PLAIN_FUNCTIONS; j++)
            for (size_t twice = 0; twice < 2; twice++) {
                struct made made = make(plain_functions, PLAIN_FUNCTIONS);
                uint8_t *entries = made.header.bytes + 12, kept[8];
                memcpy(kept, entries + 8 * i, 8);
                memcpy(entries + 8 * i, entries + 8 * j, 8);
                if (!twice)
                    memcpy(entries + 8 * j, kept, 8);
                assert_no_lie_is_believed(&made);
            }
}

/* The others are there. */
static void what_the_table_leaves_out_has_no_rows(void **state)
{
    (void)state;
    struct made made = make(plain_functions, PLAIN_FUNCTIONS);
    made.header.size = 8;
    buffer_u32(&made.header, PLAIN_FUNCTIONS - 1);
    for (size_t i = 0; i < PLAIN_FUNCTIONS; i++)
        if (i != 1)
            put_entry(&made, &plain_functions[i], i);
    struct unwind_module *module = opened(&made);
    struct compiled_rows rows = piece_of(module, 0);
    const uint32_t nothing = row_rule(ROW_NONE, ROW_FP_SAME, 0);
    for (size_t i = 0; i < 3; i++) {
        uint32_t at = plain_functions[i].start + 1;
        uint32_t rule = i == 1 ? nothing : row_rule(ROW_SP, ROW_FP_SAME, (uint32_t)(2 + i));
        assert_int_equal(unwind_find_rule(rows.rows, rows.count, at), rule);
        assert_int_equal(unwind_module_rule(module, at), rule);
    }
    compile_free(&rows);
    unwind_module_close(module);
}

/* Else it would be asked for with each sample that leads there, and each would be copied. */
static void a_piece_of_which_nothing_is_true_is_a_gap(void **state)
{
    (void)state;
    struct made made = make(plain_functions, PLAIN_FUNCTIONS);
    for (size_t i = 0; i < PLAIN_FUNCTIONS; i++)
        memcpy(made.header.bytes + 12 + 8 * i + 4, made.header.bytes + 4, 4); /* the CIE */
    struct unwind_module *module = opened(&made);
    assert_non_null(module->pieces);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        struct compiled_rows rows = piece_of(module, piece);
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.rows[0].rule, row_rule(ROW_NONE, ROW_FP_SAME, 0));
        compile_free(&rows);
    }
    unwind_module_close(module);
}

/* The first steps over the second in an expression of a register that nobody follows. */
static struct made make_nested(void)
{
    enum { NOPS = 64, INNER_BYTES = 19 + NOPS };
    uint8_t code[2 + NOPS] = {0x0e, 24};
    struct made made = {0};
    size_t cie = add_cie(&made.frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    made.fdes[0] =
        add_fde(&made.frame, cie, TEXT + 0x1000, 0x20, BYTES(0x0e, 16, 0x16, 40, INNER_BYTES));
    made.fdes[1] = add_fde(&made.frame, cie, TEXT + 0x2000, 0x20, code, sizeof(code));
    assert_int_equal(made.frame.size - made.fdes[1], INNER_BYTES);
    end_record(&made.frame, made.fdes[0]);
    begin_header(&made.header, 2);
    for (size_t i = 0; i < 2; i++)
        add_header_entry(&made.header, TEXT + 0x1000 * (i + 1), made.fdes[i]);
    return made;
}

/* Hundreds of thousands of them, one inside the other, took hours. */
static void no_more_is_read_than_the_section_holds(void **state)
{
    (void)state;
    struct made made = make_nested();
    struct unwind_module *module = opened(&made);
    struct compiled_rows rows = piece_of(module, 0);
    for (size_t i = 0; i < 2; i++) {
        enum row_kind kind = i == 0 ? ROW_SP : ROW_NONE;
        uint32_t at = 0x1000 * (uint32_t)(i + 1);
        assert_int_equal(row_kind(unwind_find_rule(rows.rows, rows.count, at)), kind);
        assert_int_equal(row_kind(unwind_module_rule(module, at)), kind);
    }
    compile_free(&rows);
    unwind_module_close(module);
}

/* Records of megabytes, read for each of thousands of pieces, took minutes. */
static void a_long_record_is_read_for_few_pieces(void **state)
{
    enum { CODE_BYTES = 2 << 20 };
    static const uint8_t nops[CODE_BYTES];
    (void)state;
    struct made made = {0};
    size_t cie = add_cie(&made.frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    size_t fde = add_fde(&made.frame, cie, TEXT, TEXT_BYTES, nops, sizeof(nops));
    begin_header(&made.header, 1);
    add_header_entry(&made.header, TEXT, fde);
    struct unwind_module *module = opened(&made);
    assert_non_null(module->pieces);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        enum row_kind kind = piece == 0 ? ROW_SP : ROW_NONE;
        uint32_t at = piece * ROW_PIECE_BYTES + 0x1000;
        assert_int_equal(row_kind(unwind_module_rule(module, at)), kind);
        struct compiled_rows rows = piece_of(module, piece);
        assert_int_equal(row_kind(unwind_find_rule(rows.rows, rows.count, at)), ROW_SP);
        compile_free(&rows);
    }
    unwind_module_close(module);
}

/* For each address in turn. Returns the number of addresses with a rule. */
static uint32_t count_rules(const struct unwind_module *module, uint32_t step)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < TEXT_BYTES; at += step)
        count += row_kind(unwind_module_rule(module, at)) == ROW_SP;
    return count;
}

/* Rules of modules without room are none; what a module holds returns with the module. */
static void rules_of_all_modules_share_their_room(void **state)
{
    (void)state;
    for (int64_t left = 0; left < 4096; left += 64) {
        struct row_room room = {left};
        struct made made = make(spanning_functions, 1), second = make(spanning_functions, 1);
        struct unwind_module *module = opened_in(&room, &made);
        const uint32_t rules = count_rules(module, 0x1000);
        const int64_t left_now = room.left_bytes;
        struct unwind_module *other = opened_in(&room, &second);
        if (rules == 0 || left_now <= 0)
            assert_int_equal(count_rules(other, 0x1000), 0);
        unwind_module_close(other);
        assert_int_equal(room.left_bytes, left_now);
        unwind_module_close(module);
        assert_int_equal(room.left_bytes, left);
    }
}

/* Rows of expensive instructions are kept by address, 300 bytes each. */
static void kept_rows_take_room_as_long_as_there_is_some(void **state)
{
    enum { ROOM_BYTES = 1 << 18, FUNCTION_BYTES = 4096 };
    uint8_t code[102] = {0x0e, 16};
    (void)state;
    struct row_room room = {ROOM_BYTES};
    struct made made = {0};
    size_t cie = add_cie(&made.frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    size_t fde = add_fde(&made.frame, cie, TEXT, FUNCTION_BYTES, code, sizeof(code));
    begin_header(&made.header, 1);
    add_header_entry(&made.header, TEXT, fde);
    struct unwind_module *module = opened_in(&room, &made);
    const uint64_t words[] = {1, TEXT + 0x42};
    const struct stack_view stack = {0x7000, 0x7000 + sizeof(words), (const uint8_t *)words, NULL};
    for (uint64_t at = 0; at < FUNCTION_BYTES; at++) {
        struct full_regs regs = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
        regs.value[UNWIND_DWARF_SP] = 0x7000;
        bool is_signal_frame;
        assert_int_equal(unwind_module_step(module, TEXT + at, &regs, &stack, &is_signal_frame),
                         UNWIND_OK);
        assert_int_equal(regs.value[UNWIND_DWARF_PC], TEXT + 0x42);
    }
    assert_in_range(-room.left_bytes, 0, ROOM_BYTES);
    unwind_module_close(module);
    assert_int_equal(room.left_bytes, ROOM_BYTES);
}

static void functions_of_other_sections_take_an_index_of_all(void **state)
{
    (void)state;
    struct made made = make(plain_functions, 1);
    struct module_bytes bytes = {.eh_frame = made.frame,
                                 .eh_frame_svma = FRAME_SVMA,
                                 .eh_frame_hdr = made.header,
                                 .eh_frame_hdr_svma = HEADER_SVMA,
                                 .is_lazy = true,
                                 .text_svma = TEXT,
                                 .text_bytes = TEXT_BYTES};
    buffer_append(&bytes.debug_frame, BYTES(0, 0, 0, 0));
    struct unwind_module *module;
    assert_int_equal(unwind_module_from_bytes(&module, &bytes, NULL), 0);
    assert_null(module->pieces);
    assert_int_equal(row_kind(unwind_module_rule(module, plain_functions[0].start)), ROW_SP);
    unwind_module_close(module);
}

static void assert_same_as_all(const struct elf_file *elf)
{
    struct unwind_module *all, *module;
    assert_int_equal(unwind_module_open(&all, elf, NULL, NULL), 0);
    assert_int_equal(unwind_module_open_lazy(&module, elf, UINT64_MAX, NULL, NULL), 0);
    assert_non_null(module->pieces);
    assert_same_pieces(module, all);
    for (uint32_t at = 0; at < unwind_module_text_bytes(all); at += 5)
        assert_int_equal(unwind_module_rule(module, at), unwind_module_rule(all, at));
    unwind_module_close(all);
    unwind_module_close(module);
}

static void rows_and_rules_of_real_files_are_the_same(void **state)
{
    (void)state;
    check_real_files(assert_same_as_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_those_of_all_records),
        cmocka_unit_test(records_are_not_searched_behind_their_place),
        cmocka_unit_test(only_the_entry_function_is_a_root_without_cfi),
        cmocka_unit_test(steps_are_those_of_the_record),
        cmocka_unit_test(a_table_that_lies_hides_rows_but_makes_none),
        cmocka_unit_test(a_table_that_is_not_in_order_hides_rows_but_makes_none),
        cmocka_unit_test(what_the_table_leaves_out_has_no_rows),
        cmocka_unit_test(a_piece_of_which_nothing_is_true_is_a_gap),
        cmocka_unit_test(no_more_is_read_than_the_section_holds),
        cmocka_unit_test(a_long_record_is_read_for_few_pieces),
        cmocka_unit_test(rules_of_all_modules_share_their_room),
        cmocka_unit_test(kept_rows_take_room_as_long_as_there_is_some),
        cmocka_unit_test(functions_of_other_sections_take_an_index_of_all),
        cmocka_unit_test(rows_and_rules_of_real_files_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
