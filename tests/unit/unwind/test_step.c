/* SPDX-License-Identifier: MIT */
#include "unwind/step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A stack of 128 words, [0x7000, 0x7400), whose word at address a is a + 0x100000. */
enum { LO = 0x7000, WORDS = 128, HI = LO + 8 * WORDS, VALUE = 0x100000 };

static uint64_t words[WORDS];

static struct stack_view view(void)
{
    for (size_t i = 0; i < WORDS; i++)
        words[i] = LO + 8 * i + VALUE;
    return (struct stack_view){LO, HI, (const uint8_t *)words, NULL};
}

static void put(uint64_t avma, uint64_t value)
{
    words[(avma - LO) / 8] = value;
}

static void assert_step(uint32_t rule, struct unwind_regs before, struct unwind_regs after,
                        const struct stack_view *stack)
{
    assert_int_equal(unwind_apply(rule, &before, stack), UNWIND_OK);
    assert_int_equal(before.pc, after.pc);
    assert_int_equal(before.sp, after.sp);
    assert_int_equal(before.fp, after.fp);
}

/* The result, and that the registers did not change. */
static void assert_refused(uint32_t rule, struct unwind_regs before, enum unwind_result result,
                           const struct stack_view *stack)
{
    struct unwind_regs after = before;
    assert_int_equal(unwind_apply(rule, &after, stack), result);
    assert_memory_equal(&before, &after, sizeof(before));
}

static void each_kind_does_what_its_equation_says(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const struct unwind_regs regs = {.pc = 0x401000, .sp = 0x7100, .fp = 0x7200};
    /* CFA = SP + 8n; PC' = *(CFA - 8); FP' = FP or *(CFA - 8k) */
    assert_step(row_rule(ROW_SP, ROW_FP_SAME, 4), regs,
                (struct unwind_regs){0x7118 + VALUE, 0x7120, 0x7200}, &stack);
    assert_step(row_rule(ROW_SP, 3, 4), regs,
                (struct unwind_regs){0x7118 + VALUE, 0x7120, 0x7108 + VALUE}, &stack);
    /* CFA = FP + 8n */
    assert_step(row_rule(ROW_FP, 2, 2), regs,
                (struct unwind_regs){0x7208 + VALUE, 0x7210, 0x7200 + VALUE}, &stack);
    /* CFA = *(FP - 8) + 0; FP' = *FP */
    put(0x71f8, 0x7300);
    assert_step(row_rule_deref(ROW_FP_DEREF, ROW_FP_AT_FP, -1, 0), regs,
                (struct unwind_regs){0x72f8 + VALUE, 0x7300, 0x7200 + VALUE}, &stack);
    /* CFA = *(SP + 16) + 8 */
    put(0x7110, 0x7300);
    assert_step(row_rule_deref(ROW_SP_DEREF, 2, 2, 1), regs,
                (struct unwind_regs){0x7300 + VALUE, 0x7308, 0x72f8 + VALUE}, &stack);
}

static void plt_entry_has_one_word_more_behind_its_push(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const uint32_t rule = row_rule(ROW_PLT, ROW_FP_SAME, 11);
    assert_step(rule, (struct unwind_regs){0x40102a, 0x7100, 1},
                (struct unwind_regs){0x7100 + VALUE, 0x7108, 1}, &stack);
    assert_step(rule, (struct unwind_regs){0x40102b, 0x7100, 1},
                (struct unwind_regs){0x7108 + VALUE, 0x7110, 1}, &stack);
}

static void signal_frame_gives_back_the_interrupted_registers(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const uint32_t rule = row_rule(ROW_SIGNAL, ROW_FP_SAME, 0);
    const struct unwind_regs regs = {.pc = 0x401000, .sp = 0x7100, .fp = 0x7200};
    put(0x7100 + 120, 0xf00d);   /* rbp */
    put(0x7100 + 160, 0x7008);   /* rsp: lower, as for a handler on an alternate stack */
    put(0x7100 + 168, 0x402000); /* rip */
    assert_step(rule, regs, (struct unwind_regs){0x402000, 0x7008, 0xf00d}, &stack);
    put(0x7100 + 160, HI + 0x1000); /* the handler ran on another stack */
    assert_step(rule, regs, (struct unwind_regs){0x402000, HI + 0x1000, 0xf00d}, &stack);
    assert_refused(rule, (struct unwind_regs){0x401000, HI - 168, 0}, UNWIND_OFF_STACK, &stack);
}

static void kinds_without_a_caller_say_so(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const struct unwind_regs regs = {.pc = 0x401000, .sp = 0x7100, .fp = 0x7200};
    assert_refused(row_rule(ROW_NONE, 0, 0), regs, UNWIND_NO_ROW, &stack);
    assert_refused(row_rule(ROW_END, 0, 0), regs, UNWIND_END, &stack);
    assert_refused(row_rule(ROW_COMPLEX, 0, 0), regs, UNWIND_COMPLEX, &stack);
    assert_refused(0xf, regs, UNWIND_NO_ROW, &stack); /* a kind that does not exist */
}

static void register_rule_takes_the_value_that_it_is_given(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const uint32_t rule = row_rule_register(2, 0, 1); /* CFA = rax + 8, FP at CFA - 16 */
    struct unwind_regs regs = {.pc = 0x401000, .sp = 0x7100, .fp = 0x7200};
    put(0x7300, 0xf00d);
    put(0x7308, 0x402000);
    assert_refused(rule, regs, UNWIND_COMPLEX, &stack);
    assert_int_equal(unwind_apply_register(rule, 0x7308, &regs, &stack), UNWIND_OK);
    assert_true(regs.pc == 0x402000 && regs.sp == 0x7310 && regs.fp == 0xf00d);
    assert_int_equal(unwind_apply_register(rule, 0x7000, &regs, &stack), UNWIND_OFF_STACK);
}

static void clone_rule_ends_where_the_result_is_0(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const uint32_t rule = row_rule_clone(ROW_FP_SAME, 0, 1);
    struct unwind_regs regs = {.pc = 0x401000, .sp = 0x7100, .fp = 0x7200};
    put(0x7100, 0x402000);
    assert_refused(rule, regs, UNWIND_COMPLEX, &stack);
    assert_int_equal(unwind_apply_register(rule, 0, &regs, &stack), UNWIND_END);
    assert_int_equal(unwind_apply_register(rule, 4711, &regs, &stack), UNWIND_OK);
    assert_true(regs.pc == 0x402000 && regs.sp == 0x7108 && regs.fp == 0x7200);
}

static void stack_pointer_has_to_grow(void **state)
{
    (void)state;
    struct stack_view stack = view();
    /* CFA equal to SP, below SP, and wrapped around to just above it by way of a huge FP. */
    assert_refused(row_rule(ROW_SP, 0, 0), (struct unwind_regs){1, 0x7100, 0}, UNWIND_OFF_STACK,
                   &stack);
    assert_refused(row_rule(ROW_FP, 0, 2), (struct unwind_regs){1, 0x7100, 0x70f0},
                   UNWIND_OFF_STACK, &stack);
    assert_refused(row_rule(ROW_FP, 0, 2), (struct unwind_regs){1, 0x7100, UINT64_MAX - 7},
                   UNWIND_OFF_STACK, &stack);
}

static void nothing_outside_the_view_is_read(void **state)
{
    (void)state;
    struct stack_view stack = view();
    const struct unwind_regs regs = {1, 0x7100, 0x7200};
    const uint32_t to_the_end = (HI - 0x7100) / 8;
    assert_step(row_rule(ROW_SP, 0, to_the_end), regs,
                (struct unwind_regs){HI - 8 + VALUE, HI, 0x7200}, &stack);
    assert_refused(row_rule(ROW_SP, 0, to_the_end + 1), regs, UNWIND_OFF_STACK, &stack);
    assert_refused(row_rule(ROW_SP, 0, ROW_OFFSET_MAX), regs, UNWIND_OFF_STACK, &stack);
    /* The saved FP lies below the view. */
    assert_refused(row_rule(ROW_SP, 254, 1), regs, UNWIND_OFF_STACK, &stack);
    /* Every start and end of a word around both ends. */
    uint64_t word;
    for (uint64_t avma = LO - 16; avma < HI + 16; avma++)
        assert_int_equal(stack_load(&stack, avma, &word), avma >= LO && avma + 8 <= HI);
    assert_false(stack_load(&stack, UINT64_MAX, &word));
}

static void frame_pointer_has_to_be_plausible(void **state)
{
    (void)state;
    struct stack_view stack = view();
    struct unwind_regs regs = {1, 0x7100, 0x7200};
    assert_int_equal(unwind_frame_pointer(&regs, &stack), UNWIND_OK);
    assert_int_equal(regs.pc, 0x7208 + VALUE);
    assert_int_equal(regs.sp, 0x7210);
    assert_int_equal(regs.fp, 0x7200 + VALUE);
    const uint64_t implausible[] = {0, 1, UINT64_MAX, UINT64_MAX - 7, 0x7201, 0x70f8, HI, HI - 8};
    for (size_t i = 0; i < sizeof(implausible) / sizeof(implausible[0]); i++) {
        regs = (struct unwind_regs){1, 0x7100, implausible[i]};
        assert_int_equal(unwind_frame_pointer(&regs, &stack), UNWIND_OFF_STACK);
        assert_int_equal(regs.fp, implausible[i]);
    }
}

static void return_addresses_are_looked_up_one_before(void **state)
{
    (void)state;
    assert_int_equal(unwind_lookup_pc(0x401000, true), 0x400fff);
    assert_int_equal(unwind_lookup_pc(0x401000, false), 0x401000);
    assert_int_equal(unwind_lookup_pc(0, true), 0);
}

/* Both searches against a linear one, for every count up to 40 and every address around. */
static void searches_find_what_a_linear_search_finds(void **state)
{
    (void)state;
    struct row rows[40];
    struct wire_module modules[40];
    for (uint32_t i = 0; i < 40; i++) {
        rows[i] = (struct row){10 + 7 * i + i * i % 5, i + 1};
        modules[i] =
            (struct wire_module){.start_avma = 10 + 7 * i, .end_avma = 10 + 7 * i + 1 + i % 7};
    }
    for (size_t count = 0; count <= 40; count++)
        for (uint32_t at = 0; at < 400; at++) {
            uint32_t rule = 0;
            const struct wire_module *module = NULL;
            for (size_t i = 0; i < count; i++) {
                if (rows[i].start <= at)
                    rule = rows[i].rule;
                if (at >= modules[i].start_avma && at < modules[i].end_avma)
                    module = &modules[i];
            }
            assert_int_equal(unwind_find_rule(rows, count, at), rule);
            assert_ptr_equal(unwind_find_module(modules, count, at), module);
        }
}

static void what_lies_beyond_a_hole_can_be_read(void **state)
{
    (void)state;
    struct stack_view beyond = view(), stack = beyond;
    stack.hi = LO + 0x80;
    beyond.lo = LO + 0x200;
    beyond.bytes += 0x200;
    stack.beyond = &beyond;
    uint64_t word;
    for (uint64_t avma = LO - 16; avma <= HI + 8; avma++) {
        bool is_there = (avma >= LO && avma <= LO + 0x78) || (avma >= LO + 0x200 && avma <= HI - 8);
        assert_int_equal(stack_load(&stack, avma, &word), is_there);
        if (is_there && avma % 8 == 0)
            assert_int_equal(word, avma + VALUE);
    }
    /* A frame that spans it: CFA = SP + 0x200. */
    const struct unwind_regs regs = {.pc = 0x401000, .sp = LO + 0x40, .fp = 0};
    assert_step(row_rule(ROW_SP, 2, 0x40), regs,
                (struct unwind_regs){LO + 0x238 + VALUE, LO + 0x240, LO + 0x230 + VALUE}, &stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_beyond_a_hole_can_be_read),
        cmocka_unit_test(each_kind_does_what_its_equation_says),
        cmocka_unit_test(plt_entry_has_one_word_more_behind_its_push),
        cmocka_unit_test(signal_frame_gives_back_the_interrupted_registers),
        cmocka_unit_test(kinds_without_a_caller_say_so),
        cmocka_unit_test(register_rule_takes_the_value_that_it_is_given),
        cmocka_unit_test(clone_rule_ends_where_the_result_is_0),
        cmocka_unit_test(stack_pointer_has_to_grow),
        cmocka_unit_test(nothing_outside_the_view_is_read),
        cmocka_unit_test(frame_pointer_has_to_be_plausible),
        cmocka_unit_test(return_addresses_are_looked_up_one_before),
        cmocka_unit_test(searches_find_what_a_linear_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
