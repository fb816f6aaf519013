/* SPDX-License-Identifier: MIT */
#include "cfi_bytes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SP_PLUS(bytes) row_rule(ROW_SP, ROW_FP_SAME, (bytes) / 8)
#define NOTHING row_rule(ROW_NONE, ROW_FP_SAME, 0)

/* One function [TEXT + 0x100, TEXT + 0x120) with the usual CIE and the given instructions. */
static struct unwind_module *function_of(const uint8_t *code, size_t code_bytes)
{
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, code, code_bytes);
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    return module;
}

/* The rule behind these instructions, which all take effect at the function's first byte. */
static uint32_t rule_of(const uint8_t *code, size_t code_bytes)
{
    struct unwind_module *module = function_of(code, code_bytes);
    assert_int_equal(bad_fdes(module), 0);
    uint32_t rule = rule_at(module, TEXT + 0x100);
    unwind_module_close(module);
    return rule;
}

/* The function is malformed, and a sound one beside it does not suffer. */
static void assert_left_out(const uint8_t *code, size_t code_bytes)
{
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, code, code_bytes);
    add_fde(&frame, cie, TEXT + 0x120, 0x20, BYTES(0x0e, 24));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(bad_fdes(module), 1);
    assert_int_equal(rule_at(module, TEXT + 0x100), NOTHING);
    assert_int_equal(rule_at(module, TEXT + 0x11f), NOTHING);
    assert_int_equal(rule_at(module, TEXT + 0x120), SP_PLUS(24));
    unwind_module_close(module);
}

static void assert_rows(const struct unwind_module *module, const struct row *expected,
                        size_t count)
{
    struct compiled_rows rows = rows_of(module);
    assert_int_equal(rows.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows.rows[i].start, expected[i].start);
        assert_int_equal(rows.rows[i].rule, expected[i].rule);
    }
    compile_free(&rows);
}

static void usual_function_gives_a_row_for_each_change(void **state)
{
    (void)state;
    /* push %rbp; mov %rsp,%rbp; …; pop %rbp; ret */
    struct unwind_module *module = function_of(BYTES(0x41,       /* advance 1 */
                                                     0x0e, 16,   /* def_cfa_offset 16 */
                                                     0x86, 2,    /* rbp at CFA - 16 */
                                                     0x43,       /* advance 3 */
                                                     0x0d, 6,    /* def_cfa_register rbp */
                                                     0x5b,       /* advance 27 */
                                                     0x0c, 7, 8, /* def_cfa rsp, 8 */
                                                     0, 0));     /* padding */
    const struct row expected[] = {
        {0, NOTHING},
        {0x100, SP_PLUS(8)},
        {0x101, row_rule(ROW_SP, 2, 2)},
        {0x104, row_rule(ROW_FP, 2, 2)},
        {0x11f, row_rule(ROW_SP, 2, 1)},
        {0x120, NOTHING},
    };
    assert_rows(module, expected, sizeof(expected) / sizeof(expected[0]));
    assert_int_equal(unwind_module_fdes(module), 1);
    unwind_module_close(module);
}

static void all_advances_move_the_address(void **state)
{
    (void)state;
    /* advance_loc1, advance_loc2, advance_loc4, MIPS_advance_loc8, advance_loc; the CFA counts
     * them. */
    const uint8_t code[] = {0x02, 2,    0x0e, 16,                                 /* from 0x102 */
                            0x03, 3,    0,    0x0e, 24,                           /* from 0x105 */
                            0x04, 4,    0,    0,    0,  0x0e, 32,                 /* from 0x109 */
                            0x1d, 5,    0,    0,    0,  0,    0,  0, 0, 0x0e, 40, /* from 0x10e */
                            0x46, 0x0e, 48};                                      /* from 0x114 */
    struct unwind_module *module = function_of(code, sizeof(code));
    assert_int_equal(rule_at(module, TEXT + 0x101), SP_PLUS(8));
    assert_int_equal(rule_at(module, TEXT + 0x102), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x104), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x105), SP_PLUS(24));
    assert_int_equal(rule_at(module, TEXT + 0x109), SP_PLUS(32));
    assert_int_equal(rule_at(module, TEXT + 0x10e), SP_PLUS(40));
    assert_int_equal(rule_at(module, TEXT + 0x114), SP_PLUS(48));
    assert_int_equal(rule_at(module, TEXT + 0x120), NOTHING);
    unwind_module_close(module);
}

static void set_loc_takes_an_encoded_address(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    /* The address field of set_loc follows the FDE's head (17 bytes) and the opcode. */
    uint64_t field = FRAME_SVMA + frame.size + 17 + 1;
    uint32_t distance = (uint32_t)(TEXT + 0x110 - field);
    uint8_t code[] = {0x01, 0, 0, 0, 0, 0x0e, 16};
    memcpy(code + 1, &distance, sizeof(distance));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, code, sizeof(code));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x10f), SP_PLUS(8));
    assert_int_equal(rule_at(module, TEXT + 0x110), SP_PLUS(16));
    unwind_module_close(module);
}

static void all_ways_to_state_the_cfa(void **state)
{
    (void)state;
    assert_int_equal(rule_of(BYTES(0x0c, 6, 32)), row_rule(ROW_FP, ROW_FP_SAME, 4)); /* def_cfa */
    assert_int_equal(rule_of(BYTES(0x0d, 6)), row_rule(ROW_FP, ROW_FP_SAME, 1)); /* …_register */
    assert_int_equal(rule_of(BYTES(0x0e, 0x80, 1)), SP_PLUS(128));               /* …_offset */
    assert_int_equal(rule_of(BYTES(0x12, 7, 0x7d)), SP_PLUS(24)); /* …_sf: -3 * -8 */
    assert_int_equal(rule_of(BYTES(0x13, 0x7b)), SP_PLUS(40));    /* …_offset_sf: -5 * -8 */
    assert_int_equal(rule_of(BYTES(0x2e, 0x20)), SP_PLUS(8)); /* GNU_args_size changes nothing */
    assert_int_equal(rule_of(BYTES(0x0c, 3, 8)), row_rule_register(ROW_FP_SAME, 3, 1)); /* rbx */
    assert_int_equal(row_kind(rule_of(BYTES(0x0c, 3, 0x80, 0x80, 0x20))), ROW_COMPLEX); /* far */
    assert_int_equal(row_kind(rule_of(BYTES(0x0c, 99, 8))), ROW_COMPLEX); /* on nothing we know */
    assert_int_equal(row_kind(rule_of(BYTES(0x0e, 12))), ROW_COMPLEX);    /* not a multiple of 8 */
    /* 2^20 words do not fit the row's 20 bits; one word less does. */
    assert_int_equal(row_kind(rule_of(BYTES(0x0e, 0x80, 0x80, 0x80, 0x04))), ROW_COMPLEX);
    assert_int_equal(rule_of(BYTES(0x0e, 0xf8, 0xff, 0xff, 0x03)),
                     row_rule(ROW_SP, ROW_FP_SAME, ROW_OFFSET_MAX));
}

static void all_ways_to_state_the_saved_fp(void **state)
{
    (void)state;
    const uint32_t same = SP_PLUS(8), third = row_rule(ROW_SP, 3, 1);
    assert_int_equal(rule_of(BYTES(0x86, 3)), third);         /* offset */
    assert_int_equal(rule_of(BYTES(0x05, 6, 3)), third);      /* offset_extended */
    assert_int_equal(rule_of(BYTES(0x11, 6, 3)), third);      /* offset_extended_sf */
    assert_int_equal(rule_of(BYTES(0x86, 3, 0xc6)), same);    /* restore: what the CIE says */
    assert_int_equal(rule_of(BYTES(0x86, 3, 0x06, 6)), same); /* restore_extended */
    assert_int_equal(rule_of(BYTES(0x86, 3, 0x08, 6)), same); /* same_value */
    /* GNU_negative_offset_extended: its offset is negated, so this is CFA + 24. */
    assert_int_equal(row_kind(rule_of(BYTES(0x2f, 6, 3))), ROW_COMPLEX);
    assert_int_equal(row_kind(rule_of(BYTES(0x07, 6))), ROW_COMPLEX);          /* undefined */
    assert_int_equal(row_kind(rule_of(BYTES(0x09, 6, 3))), ROW_COMPLEX);       /* in rbx */
    assert_int_equal(row_kind(rule_of(BYTES(0x14, 6, 2))), ROW_COMPLEX);       /* val_offset */
    assert_int_equal(row_kind(rule_of(BYTES(0x15, 6, 2))), ROW_COMPLEX);       /* val_offset_sf */
    assert_int_equal(row_kind(rule_of(BYTES(0x16, 6, 1, 0x30))), ROW_COMPLEX); /* val_expression */
    /* At CFA - 8 * 254 the byte is used up; 255 means *(FP), which has an expression. */
    assert_int_equal(rule_of(BYTES(0x86, 0xfe, 1)), row_rule(ROW_SP, 254, 1));
    assert_int_equal(row_kind(rule_of(BYTES(0x86, 0xff, 1))), ROW_COMPLEX);
    assert_int_equal(rule_of(BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0)),
                     row_rule_deref(ROW_FP_DEREF, ROW_FP_AT_FP, -1, 0));
    assert_int_equal(rule_of(BYTES(0x10, 6, 2, 0x76, 0)), same); /* what gcc leaves before `ret` */
    assert_int_equal(row_kind(rule_of(BYTES(0x10, 6, 2, 0x76, 8))), ROW_COMPLEX);
    assert_int_equal(rule_of(BYTES(0x83, 2, 0x8c, 3)), same); /* rbx and r12 are of no interest */
}

static void remembered_state_comes_back_whole(void **state)
{
    (void)state;
    /* def_cfa_offset 16, rbp at CFA-16, remember; advance 1, def_cfa rbp 8, rbp same; advance 1,
     * restore_state */
    struct unwind_module *module =
        function_of(BYTES(0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0c, 6, 8, 0x08, 6, 0x41, 0x0b));
    assert_int_equal(rule_at(module, TEXT + 0x100), row_rule(ROW_SP, 2, 2));
    assert_int_equal(rule_at(module, TEXT + 0x101), row_rule(ROW_FP, ROW_FP_SAME, 1));
    assert_int_equal(rule_at(module, TEXT + 0x102), row_rule(ROW_SP, 2, 2));
    unwind_module_close(module);
}

static void restored_rule_is_the_shared_one(void **state)
{
    (void)state;
    /* The CIE saves rbp at CFA - 16 already; same_value, then restore. */
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8, 0x86, 2));
    add_fde(&frame, cie, TEXT + 0x100, 0x20,
            BYTES(0x08, 6, 0x41, 0xc6, 0x41, 0x08, 6, 0x41, 0x06, 6));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x100), SP_PLUS(8));
    assert_int_equal(rule_at(module, TEXT + 0x101), row_rule(ROW_SP, 2, 1));
    assert_int_equal(rule_at(module, TEXT + 0x102), SP_PLUS(8));
    assert_int_equal(rule_at(module, TEXT + 0x103), row_rule(ROW_SP, 2, 1));
    unwind_module_close(module);
}

static void undefined_return_address_ends_the_stack(void **state)
{
    (void)state;
    assert_int_equal(row_kind(rule_of(BYTES(0x07, 16))), ROW_END);
    assert_int_equal(row_kind(rule_of(BYTES(0x90, 2))), ROW_COMPLEX); /* it is elsewhere */
}

static void expressions_of_known_shape_become_rows(void **state)
{
    (void)state;
    /* 0x0f def_cfa_expression. The lazy PLT of ld: one word more from byte 11 of each entry on; the
     * PLT for indirect branch tracking: from byte 9 on. */
    assert_int_equal(
        rule_of(BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)),
        row_rule(ROW_PLT, ROW_FP_SAME, 11));
    assert_int_equal(
        rule_of(BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22)),
        row_rule(ROW_PLT, ROW_FP_SAME, 9));
    /* breg6 -8; deref */
    assert_int_equal(rule_of(BYTES(0x0f, 3, 0x76, 0x78, 0x06)),
                     row_rule_deref(ROW_FP_DEREF, ROW_FP_SAME, -1, 0));
    /* breg7 152; deref; plus_uconst 8 */
    assert_int_equal(rule_of(BYTES(0x0f, 6, 0x77, 0x98, 1, 0x06, 0x23, 8)),
                     row_rule_deref(ROW_SP_DEREF, ROW_FP_SAME, 19, 1));
    /* The last offset that fits ten signed bits of words, and the first that does not. */
    assert_int_equal(rule_of(BYTES(0x0f, 4, 0x77, 0xf8, 0x1f, 0x06)),
                     row_rule_deref(ROW_SP_DEREF, ROW_FP_SAME, 511, 0));
    assert_int_equal(row_kind(rule_of(BYTES(0x0f, 4, 0x77, 0x80, 0x20, 0x06))), ROW_COMPLEX);
    /* Almost: another literal than 3, another register, something behind. */
    assert_int_equal(row_kind(rule_of(BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a,
                                            0x34, 0x24, 0x22))),
                     ROW_COMPLEX);
    assert_int_equal(row_kind(rule_of(BYTES(0x0f, 3, 0x73, 0x78, 0x06))), ROW_COMPLEX);
    assert_int_equal(row_kind(rule_of(BYTES(0x0f, 4, 0x76, 0x78, 0x06, 0x06))), ROW_COMPLEX);
    assert_int_equal(row_kind(rule_of(BYTES(0x0f, 0))), ROW_COMPLEX); /* empty */
}

static uint32_t signal_rule_of(const uint8_t *code, size_t code_bytes)
{
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zRS", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, code, code_bytes);
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    uint32_t rule = rule_at(module, TEXT + 0x100);
    unwind_module_close(module);
    return rule;
}

static void signal_frame_of_the_restorer_becomes_a_row(void **state)
{
    (void)state;
    /* breg7 160; deref: the interrupted SP in the ucontext. Other signal frames are not the
     * kernel's. */
    assert_int_equal(row_kind(signal_rule_of(BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06))), ROW_SIGNAL);
    assert_int_equal(row_kind(signal_rule_of(BYTES(0x0f, 4, 0x77, 0xa8, 1, 0x06))), ROW_COMPLEX);
    assert_int_equal(row_kind(signal_rule_of(BYTES(0x0e, 8))), ROW_COMPLEX);
}

static void malformed_instructions_cost_only_their_function(void **state)
{
    (void)state;
    assert_left_out(BYTES(0x0b));          /* restore_state without remember_state */
    assert_left_out(BYTES(0x02));          /* operand past the end */
    assert_left_out(BYTES(0x0e, 0x80));    /* LEB128 without an end */
    assert_left_out(BYTES(0x0f, 5, 0x77)); /* expression longer than the record */
    assert_left_out(BYTES(0x10, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1));
    assert_left_out(BYTES(0x3f)); /* no such opcode */
    assert_left_out(BYTES(0x2d)); /* SPARC's register windows */
    /* set_loc backwards, from the section behind the text to the page before it */
    assert_left_out(BYTES(0x41, 0x01, 0x00, 0xf0, 0xef, 0xff));
    /* LEB128 of more than 64 bits */
    assert_left_out(BYTES(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f));
    /* An offset that overflows when scaled by -8 */
    assert_left_out(BYTES(0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f));
    /* An advance past the end of the address space */
    assert_left_out(BYTES(0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff));
    /* def_cfa_offset where the CFA is an expression */
    assert_left_out(BYTES(0x0f, 1, 0x30, 0x0e, 8));
    /* Remembering without end */
    assert_left_out(BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
                          0x0a, 0x0a, 0x0a, 0x0a, 0x0a));
}

/* A row takes 8 bytes of memory for each 3 of a file that may have 256 MB. */
static struct unwind_module *module_of_huge_functions(uint32_t count, uint32_t rows)
{
    struct buffer frame = {0}, code = {0};
    struct unwind_module *module;
    for (uint32_t i = 0; i < rows; i++)
        buffer_append(&code, BYTES(0x41, 0x0e, (uint8_t)(8 + i % 2 * 8)));
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    for (uint32_t i = 0; i < count; i++)
        add_fde(&frame, cie, TEXT + (uint64_t)i * rows, rows, code.bytes, code.size);
    add_fde(&frame, cie, TEXT + (uint64_t)count * rows, 0x20, BYTES(0x0e, 24));
    struct module_bytes bytes = {.eh_frame = frame,
                                 .eh_frame_svma = FRAME_SVMA,
                                 .text_svma = TEXT,
                                 .text_bytes = (count + 1) * rows};
    buffer_free(&code);
    assert_int_equal(unwind_module_from_bytes(&module, &bytes, NULL), 0);
    return module;
}

static void a_function_of_endless_rows_costs_no_memory(void **state)
{
    (void)state;
    struct unwind_module *module = module_of_huge_functions(2, 600000);
    assert_int_equal(bad_fdes(module), 2);
    assert_int_equal(rule_at(module, TEXT + 0x100), NOTHING);
    assert_int_equal(rule_at(module, TEXT + 2 * 600000), SP_PLUS(24));
    unwind_module_close(module);
}

static void a_file_of_more_rows_than_there_is_room_for_is_given_up(void **state)
{
    (void)state;
    struct unwind_module *module = module_of_huge_functions(17, 480000);
    struct compiled_rows rows = {0};
    assert_int_equal(unwind_module_compile(module, 0, COMPILE_END, &rows), -EFBIG);
    assert_true(rows.count < 17 * 480000);
    compile_free(&rows);
    unwind_module_close(module);
}

static void rows_past_the_end_of_the_function_are_not_taken(void **state)
{
    (void)state;
    /* advance 31, 16 bytes; advance 1 (the end), 24 bytes; advance 8, 32 bytes */
    struct unwind_module *module =
        function_of(BYTES(0x5f, 0x0e, 16, 0x41, 0x0e, 24, 0x48, 0x0e, 32));
    assert_int_equal(rule_at(module, TEXT + 0x11f), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x120), NOTHING);
    assert_int_equal(rule_at(module, TEXT + 0x130), NOTHING);
    /* advance 8 from 0x11e to 0x126: the range ends with the function. */
    unwind_module_close(module);
    module = function_of(BYTES(0x5e, 0x0e, 16, 0x48, 0x0e, 24));
    struct cfi_walk walk;
    assert_true(cfi_index_walk(&module->index, &module->index.entries[0], &walk));
    assert_true(cfi_walk_next(&walk));
    assert_int_equal(walk.end_svma, TEXT + 0x11e);
    assert_true(cfi_walk_next(&walk));
    assert_int_equal(walk.end_svma, TEXT + 0x120);
    assert_false(cfi_walk_next(&walk));
    unwind_module_close(module);
}

static void adjacent_functions_have_no_gap_and_distant_ones_have(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    /* Out of order, as hot and cold parts come out of linkers. */
    add_fde(&frame, cie, TEXT + 0x200, 0x10, BYTES(0x0e, 16));
    add_fde(&frame, cie, TEXT + 0x110, 0x10, BYTES(0x0e, 8));
    add_fde(&frame, cie, TEXT + 0x100, 0x10, BYTES(0x0e, 8));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    const struct row expected[] = {
        {0, NOTHING},     {0x100, SP_PLUS(8)}, /* equal neighbours are one row */
        {0x120, NOTHING}, {0x200, SP_PLUS(16)}, {0x210, NOTHING},
    };
    assert_rows(module, expected, sizeof(expected) / sizeof(expected[0]));
    unwind_module_close(module);
}

static void overlapping_functions_are_shared_out(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    /* 16 bytes, from 0x118 on 40: but by then it is the other's. */
    add_fde(&frame, cie, TEXT + 0x100, 0x40, BYTES(0x0e, 16, 0x58, 0x0e, 40));
    add_fde(&frame, cie, TEXT + 0x110, 0x10, BYTES(0x0e, 24)); /* starts later: has it from there */
    add_fde(&frame, cie, TEXT + 0x110, 0x20, BYTES(0x0e, 32)); /* starts there too: is second */
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x10f), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x110), SP_PLUS(24));
    assert_int_equal(rule_at(module, TEXT + 0x11f), SP_PLUS(24));
    assert_int_equal(rule_at(module, TEXT + 0x120), NOTHING);
    unwind_module_close(module);
}

/* .debug_frame: CIE id all ones, version 4 with an address size, FDEs by offset and plain
 * addresses. */
static void add_debug_function(struct buffer *out, uint64_t start, uint64_t range, uint8_t offset)
{
    size_t cie = begin_record(out);
    buffer_u32(out, UINT32_MAX);
    buffer_append(out, BYTES(4, 0, 8, 0, 1, 0x78, 16, CFA_RSP_8, RA_AT_CFA_MINUS_8));
    end_record(out, cie);
    size_t fde = begin_record(out);
    buffer_u32(out, (uint32_t)cie);
    buffer_u64(out, start);
    buffer_u64(out, range);
    buffer_append(out, BYTES(0x0e, offset));
    end_record(out, fde);
}

static void debug_frame_fills_in_what_eh_frame_lacks(void **state)
{
    (void)state;
    struct buffer frame = {0}, debug_frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0x0e, 16));
    add_debug_function(&debug_frame, TEXT + 0x0f0, 0x20, 24); /* up to the other's start */
    add_debug_function(&debug_frame, TEXT + 0x110, 0x08, 32); /* inside: left out */
    add_debug_function(&debug_frame, TEXT + 0x200, 0x10, 40);
    add_debug_function(&debug_frame, 0, 0x10, 48); /* discarded by the linker */
    assert_int_equal(open_module(&module, &frame, &debug_frame), 0);
    assert_int_equal(rule_at(module, TEXT + 0x0f0), SP_PLUS(24));
    assert_int_equal(rule_at(module, TEXT + 0x100), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x110), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x200), SP_PLUS(40));
    assert_int_equal(bad_fdes(module), 0);
    unwind_module_close(module);
}

/* A record with a 64-bit length: in .eh_frame the id stays 32 bits wide. */
static void wide_lengths_are_read(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    buffer_u32(&frame, UINT32_MAX);
    buffer_u64(&frame, 15);
    buffer_u32(&frame, (uint32_t)(frame.size - cie));
    buffer_u32(&frame, (uint32_t)(TEXT + 0x100 - (FRAME_SVMA + frame.size)));
    buffer_u32(&frame, 0x20);
    buffer_append(&frame, BYTES(0, 0x0e, 16));
    add_fde(&frame, cie, TEXT + 0x120, 0x20, BYTES(0x0e, 24));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x100), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x120), SP_PLUS(24));
    unwind_module_close(module);
}

static void terminators_in_the_middle_are_stepped_over(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    buffer_u32(&frame, 0);
    add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0x0e, 16));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x100), SP_PLUS(16));
    unwind_module_close(module);
}

static void section_that_ends_inside_a_record_keeps_what_is_before(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0x0e, 16));
    add_fde(&frame, cie, TEXT + 0x120, 0x20, BYTES(0x0e, 24));
    frame.size -= 3;
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x100), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x120), NOTHING);
    assert_int_equal(bad_fdes(module), 1);
    unwind_module_close(module);
}

/* Wholly malformed: nothing sound is left. */
static void assert_malformed(struct buffer *frame)
{
    struct unwind_module *module;
    assert_int_equal(open_module(&module, frame, NULL), -EBADMSG);
    assert_null(module);
}

static void malformed_records_are_refused(void **state)
{
    (void)state;
    struct buffer frame = {0};
    buffer_append(&frame, BYTES(0x10, 0)); /* a length of two bytes */
    assert_malformed(&frame);

    buffer_u32(&frame, 0xfffffff0); /* a length past the end */
    buffer_zeros(&frame, 64);
    assert_malformed(&frame);

    buffer_u32(&frame, UINT32_MAX); /* a 64-bit length past the end, which overflows as an offset */
    buffer_u64(&frame, UINT64_MAX - 4);
    buffer_zeros(&frame, 64);
    assert_malformed(&frame);

    add_fde(&frame, 0, TEXT + 0x100, 0x20, BYTES(0)); /* its CIE is itself */
    assert_malformed(&frame);

    add_fde(&frame, (size_t)-400, TEXT + 0x100, 0x20, BYTES(0)); /* its CIE is past the end */
    assert_malformed(&frame);
}

static void cies_that_cannot_be_understood_take_their_functions_along(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint8_t bytes[12];
        size_t size;
    } heads[] = {
        /* version, augmentation, code alignment, data alignment, return register */
        {"version 9", {9, 0, 1, 0x78, 16}, 5},
        {"unknown augmentation without a size", {1, 'q', 0, 1, 0x78, 16}, 6},
        {"augmentation without an end", {1, 'z', 'R'}, 3},
        {"return address in a register we do not follow", {1, 0, 1, 0x78, 200}, 5},
        {"augmentation data longer than the CIE", {1, 'z', 'R', 0, 1, 0x78, 16, 0x7f, 0x1b}, 9},
        {"addresses relative to the function", {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x4b}, 9},
        {"addresses through a pointer", {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x9b}, 9},
        {"4-byte addresses", {4, 0, 4, 0, 1, 0x78, 16}, 7},
        {"segment selectors", {4, 0, 8, 2, 1, 0x78, 16}, 7},
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct buffer frame = {0};
        size_t cie = begin_record(&frame);
        buffer_u32(&frame, 0);
        buffer_append(&frame, heads[i].bytes, heads[i].size);
        end_record(&frame, cie);
        add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0));
        assert_malformed(&frame);
    }
    /* Instructions without end would be run for every function: 257 times nop. */
    const uint8_t nops[257] = {0};
    struct buffer frame = {0};
    size_t cie = add_cie(&frame, "zR", nops, sizeof(nops));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0));
    assert_malformed(&frame);
}

static void known_augmentations_are_read_past(void **state)
{
    (void)state;
    /* zPLR: 0x1b personality (4 bytes), 0x1b language data, 0x1b addresses; zRB: pointer
     * authentication; "eh": a pointer of gcc 2, and FDEs with plain addresses. */
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = begin_record(&frame);
    buffer_u32(&frame, 0);
    buffer_append(&frame, BYTES(1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b,
                                0x1b, CFA_RSP_8, RA_AT_CFA_MINUS_8));
    end_record(&frame, cie);
    size_t fde = add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0, 0, 0, 0, 0x0e, 16));
    frame.bytes[fde + 16] = 4; /* the FDE's augmentation data: where its language data lies */
    cie = add_cie(&frame, "zRB", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x120, 0x20, BYTES(0x0e, 24));
    cie = begin_record(&frame);
    buffer_u32(&frame, 0);
    buffer_append(&frame, BYTES(1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16, CFA_RSP_8,
                                RA_AT_CFA_MINUS_8));
    end_record(&frame, cie);
    fde = begin_record(&frame);
    buffer_u32(&frame, (uint32_t)(frame.size - cie));
    buffer_u64(&frame, TEXT + 0x140);
    buffer_u64(&frame, 0x20);
    buffer_append(&frame, BYTES(0x0e, 32));
    end_record(&frame, fde);
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x100), SP_PLUS(16));
    assert_int_equal(rule_at(module, TEXT + 0x120), SP_PLUS(24));
    assert_int_equal(rule_at(module, TEXT + 0x140), SP_PLUS(32));
    assert_int_equal(bad_fdes(module), 0);
    unwind_module_close(module);
}

static void file_without_any_cfi_is_a_module_without_rows(void **state)
{
    (void)state;
    struct buffer frame = {0};
    struct unwind_module *module;
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    assert_int_equal(rule_at(module, TEXT + 0x100), NOTHING);
    struct full_regs regs = {.known = UINT32_MAX};
    struct stack_view stack = {0};
    bool is_signal;
    assert_int_equal(unwind_module_step(module, TEXT + 0x100, &regs, &stack, &is_signal),
                     UNWIND_NO_ROW);
    unwind_module_close(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_function_gives_a_row_for_each_change),
        cmocka_unit_test(all_advances_move_the_address),
        cmocka_unit_test(set_loc_takes_an_encoded_address),
        cmocka_unit_test(all_ways_to_state_the_cfa),
        cmocka_unit_test(all_ways_to_state_the_saved_fp),
        cmocka_unit_test(remembered_state_comes_back_whole),
        cmocka_unit_test(restored_rule_is_the_shared_one),
        cmocka_unit_test(undefined_return_address_ends_the_stack),
        cmocka_unit_test(expressions_of_known_shape_become_rows),
        cmocka_unit_test(signal_frame_of_the_restorer_becomes_a_row),
        cmocka_unit_test(malformed_instructions_cost_only_their_function),
        cmocka_unit_test(a_function_of_endless_rows_costs_no_memory),
        cmocka_unit_test(a_file_of_more_rows_than_there_is_room_for_is_given_up),
        cmocka_unit_test(rows_past_the_end_of_the_function_are_not_taken),
        cmocka_unit_test(adjacent_functions_have_no_gap_and_distant_ones_have),
        cmocka_unit_test(overlapping_functions_are_shared_out),
        cmocka_unit_test(debug_frame_fills_in_what_eh_frame_lacks),
        cmocka_unit_test(wide_lengths_are_read),
        cmocka_unit_test(terminators_in_the_middle_are_stepped_over),
        cmocka_unit_test(section_that_ends_inside_a_record_keeps_what_is_before),
        cmocka_unit_test(malformed_records_are_refused),
        cmocka_unit_test(cies_that_cannot_be_understood_take_their_functions_along),
        cmocka_unit_test(known_augmentations_are_read_past),
        cmocka_unit_test(file_without_any_cfi_is_a_module_without_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
