/* SPDX-License-Identifier: MIT */
/* Callers of generated code outside of its frame, made here: code at CODE, and words of a stack. */
#include "unwind/generated/outside_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    CODE = 0x100000,
    CODE_BYTES = 0x1000,
    PC = CODE + 0x104,
    BEHIND_CALL = CODE + 0x200,
    NO_CALL = CODE + 0x300
};
#define STACK UINT64_C(0x7f0000000000)

struct fixture {
    enum code_fp fp;
    uint64_t return_bytes;
};

static bool find_code(void *context, uint64_t avma, struct code_place *place)
{
    (void)context;
    *place = (struct code_place){0};
    return avma - CODE < CODE_BYTES;
}

static bool is_returned_to(void *context, uint64_t avma)
{
    (void)context;
    return avma == BEHIND_CALL;
}

static enum code_fp find_fp(void *context, uint64_t avma, uint64_t *return_bytes)
{
    const struct fixture *f = context;
    assert_int_equal(avma, PC);
    *return_bytes = f->return_bytes;
    return f->fp;
}

static const struct generated_code generated = {.find_fp = find_fp,
                                                .is_returned_to = is_returned_to};

static struct caller find(struct fixture f, const uint64_t words[4], bool is_return_address)
{
    const struct code_map map = {
        .find = find_code, .generated = &generated, .generated_context = &f};
    const struct stack_view stack = {STACK, STACK + 32, (const uint8_t *)words, NULL};
    const struct stack_frame callee = {.regs = {.pc = PC, .sp = STACK, .fp = STACK + 8},
                                       .fp_is_known = true,
                                       .is_return_address = is_return_address};
    return outside_frame_caller(&map, &callee, &stack);
}

static void the_caller_is_behind_the_call_and_has_the_frame_pointer(void **state)
{
    (void)state;
    const uint64_t words[4] = {1, BEHIND_CALL, 3, 4};
    const struct caller caller = find((struct fixture){CODE_FP_FREE, 8}, words, false);
    assert_int_equal(caller.evidence, CALLER_PLAUSIBLE);
    assert_int_equal(caller.frame.regs.pc, BEHIND_CALL);
    assert_int_equal(caller.frame.regs.sp, STACK + 16);
    assert_int_equal(caller.frame.regs.fp, STACK + 8);
    assert_true(caller.frame.is_return_address);
    assert_true(caller.frame.fp_is_known);
}

static void no_other_word_is_a_caller(void **state)
{
    (void)state;
    const uint64_t words[4] = {NO_CALL, 1, CODE + CODE_BYTES + 1, 0};
    for (uint64_t bytes = 0; bytes <= 32; bytes += 8)
        assert_int_equal(find((struct fixture){CODE_FP_FREE, bytes}, words, false).evidence,
                         CALLER_BEYOND);
    assert_int_equal(find((struct fixture){CODE_FP_FREE, UINT64_MAX - 7}, words, false).evidence,
                     CALLER_BEYOND);
}

static void in_its_frame_code_has_no_such_caller(void **state)
{
    (void)state;
    const uint64_t words[4] = {BEHIND_CALL, BEHIND_CALL, 3, 4};
    assert_int_equal(find((struct fixture){CODE_FP_SET, 0}, words, false).evidence, CALLER_NONE);
    assert_int_equal(find((struct fixture){CODE_FP_FREE, 0}, words, true).evidence, CALLER_NONE);
}

static void without_the_code_a_possible_return_address_ends_the_walk(void **state)
{
    (void)state;
    const struct fixture unreadable = {CODE_FP_UNKNOWN, 0};
    assert_int_equal(find(unreadable, (const uint64_t[4]){BEHIND_CALL, 2, 3, 4}, false).evidence,
                     CALLER_BEYOND);
    assert_int_equal(find(unreadable, (const uint64_t[4]){1, NO_CALL, 3, 4}, false).evidence,
                     CALLER_BEYOND);
    /* FP + 8 */
    assert_int_equal(find(unreadable, (const uint64_t[4]){1, 2, BEHIND_CALL, 4}, false).evidence,
                     CALLER_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_caller_is_behind_the_call_and_has_the_frame_pointer),
        cmocka_unit_test(no_other_word_is_a_caller),
        cmocka_unit_test(in_its_frame_code_has_no_such_caller),
        cmocka_unit_test(without_the_code_a_possible_return_address_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
