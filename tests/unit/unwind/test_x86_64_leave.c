/* SPDX-License-Identifier: MIT */
/* The distance to the return address by the code up to the end of the function, as Erlang's JIT writes it. */
#include "unwind/arch/x86_64_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define ADD_8 0x48, 0x83, 0xc4, 8
#define SUB_0X18 0x48, 0x83, 0xec, 0x18
#define ADD_0X18 0x48, 0x83, 0xc4, 0x18
#define TO_RUNTIME \
    0x48, 0x89, 0xe5, 0x48, 0x8d, 0x63, 0x80 /* mov %rsp, %rbp; lea -0x80(%rbx), %rsp */
#define FROM_RUNTIME 0x48, 0x89, 0xec        /* mov %rbp, %rsp */
#define CALL 0xe8, 0, 0, 0, 0
#define JL 0x0f, 0x8c, 0, 1, 0, 0
#define RET 0xc3
#define SVMA UINT64_C(0x1000)

static void assert_leaves(struct code_leave leave, int kind, uint64_t bytes, uint64_t target_svma)
{
    assert_int_equal(leave.kind, kind);
    assert_int_equal(leave.return_bytes, bytes);
    assert_int_equal(leave.target_svma, target_svma);
}

static void the_first_return_counts(void **state)
{
    (void)state;
    assert_leaves(x86_64_leave(BYTES(RET), SVMA), LEAVE_RETURNS, 0, 0);
    assert_leaves(x86_64_leave(BYTES(CALL, ADD_8, JL, RET, ADD_0X18, RET), SVMA), LEAVE_RETURNS, 8,
                  0);
    assert_leaves(x86_64_leave(BYTES(SUB_0X18, CALL, ADD_0X18, RET), SVMA), LEAVE_RETURNS, 0, 0);
    assert_leaves(x86_64_leave(BYTES(0x50, 0x58, 0x5b, RET), SVMA), LEAVE_RETURNS, 8, 0);
    assert_leaves(x86_64_leave(BYTES(0x48, 0x8d, 0x64, 0x24, 0x10, RET), SVMA), LEAVE_RETURNS, 16,
                  0);
    assert_leaves(x86_64_leave(BYTES(0x48, 0x83, 0xfc, 0x10, RET), SVMA), LEAVE_RETURNS, 0,
                  0); /* cmp */
}

static void calls_on_another_stack_have_no_effect(void **state)
{
    (void)state;
    assert_leaves(x86_64_leave(BYTES(TO_RUNTIME, ADD_8, CALL, FROM_RUNTIME, ADD_8, RET), SVMA),
                  LEAVE_RETURNS, 8, 0);
    /* mov 0x58(%r13), %rsp */
    assert_leaves(x86_64_leave(BYTES(TO_RUNTIME, CALL, 0x49, 0x8b, 0x65, 0x58, ADD_8, RET), SVMA),
                  LEAVE_RETURNS, 8, 0);
}

static void jumps_state_their_targets(void **state)
{
    (void)state;
    assert_leaves(x86_64_leave(BYTES(ADD_8, 0xe9, 0x10, 0, 0, 0), SVMA), LEAVE_JUMPS, 8,
                  SVMA + 4 + 5 + 0x10);
    assert_leaves(x86_64_leave(BYTES(0xeb, 0xfe), SVMA), LEAVE_JUMPS, 0, SVMA);
    assert_leaves(x86_64_leave(BYTES(ADD_8, 0x42, 0xff, 0x24, 0xe0), SVMA), LEAVE_JUMPS, 8, 0);
}

static void other_ways_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(x86_64_leave(NULL, 0, SVMA).kind, LEAVE_UNKNOWN);
    assert_int_equal(x86_64_leave(BYTES(ADD_8), SVMA).kind, LEAVE_UNKNOWN);
    /* lea with a register as its operand, and nothing behind */
    uint8_t *alone = malloc(3);
    assert_non_null(alone);
    memcpy(alone, (const uint8_t[]){0x48, 0x8d, 0xe4}, 3);
    assert_int_equal(x86_64_leave(alone, 3, SVMA).kind, LEAVE_UNKNOWN);
    free(alone);
    assert_int_equal(x86_64_leave(BYTES(0x0f, 0x0b, RET), SVMA).kind, LEAVE_UNKNOWN); /* ud2 */
    assert_int_equal(x86_64_leave(BYTES(0xc9, RET), SVMA).kind, LEAVE_UNKNOWN);       /* leave */
    assert_int_equal(x86_64_leave(BYTES(FROM_RUNTIME, RET), SVMA).kind,
                     LEAVE_UNKNOWN); /* on which stack? */
    assert_int_equal(x86_64_leave(BYTES(TO_RUNTIME, RET), SVMA).kind,
                     LEAVE_UNKNOWN); /* on the other one */
    assert_int_equal(x86_64_leave(BYTES(SUB_0X18, RET), SVMA).kind, LEAVE_UNKNOWN); /* below SP */
    assert_int_equal(x86_64_leave(BYTES(0x48, 0x83, 0xe4, 0xf0, RET), SVMA).kind,
                     LEAVE_UNKNOWN); /* and */
}

#define PUSH_FP 0x55
#define SET_FP 0x48, 0x89, 0xe5
#define POP_FP 0x5d

static void assert_callers_fp(const uint8_t *bytes, size_t size, uint64_t return_bytes)
{
    uint64_t found = 1;
    assert_true(x86_64_has_callers_fp(bytes, size, &found));
    assert_int_equal(found, return_bytes);
}

static void before_the_frame_and_behind_it_fp_is_the_callers(void **state)
{
    (void)state;
    assert_callers_fp(BYTES(PUSH_FP, SET_FP), 0);
    assert_callers_fp(BYTES(SET_FP, CALL), 8);
    assert_callers_fp(BYTES(0x48, 0x8b, 0xec), 8); /* mov, the other way */
    /* endbr64; test of a flag, as V8 has it at its entries; mov %eax, -0x14000(%rsp), as HotSpot */
    assert_callers_fp(BYTES(0xf3, 0x0f, 0x1e, 0xfa, PUSH_FP, SET_FP), 0);
    assert_callers_fp(BYTES(0x41, 0xf6, 0x40, 0x0f, 0x01, 0x0f, 0x85, 0, 1, 0, 0, PUSH_FP, SET_FP),
                      0);
    assert_callers_fp(BYTES(0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, PUSH_FP, SET_FP), 0);
    /* push %rbp; push %r15; sub $0x10, %rsp; lea 0x18(%rsp), %rbp */
    assert_callers_fp(
        BYTES(PUSH_FP, 0x41, 0x57, 0x48, 0x83, 0xec, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x18), 0);
    assert_callers_fp(BYTES(0x48, 0x83, 0xec, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x18), 0x10);
    assert_callers_fp(BYTES(RET), 0);
    assert_callers_fp(BYTES(0xc2, 8, 0), 0);
    /* cmp 0x338(%r15), %rsp; ja …: the end of a function of HotSpot */
    assert_callers_fp(BYTES(0x49, 0x3b, 0xa7, 0x38, 3, 0, 0, 0x0f, 0x87, 0, 1, 0, 0, RET), 0);
    assert_callers_fp(BYTES(ADD_8, RET), 8); /* without a frame */
    /* pop %rsi; mov %rbx, %rsp; jmp *%rsi */
    assert_callers_fp(BYTES(0x5e, 0x48, 0x89, 0xdc, 0xff, 0xe6), CODE_NOT_ON_STACK);
}

static void in_the_frame_it_is_not(void **state)
{
    (void)state;
    uint64_t bytes;
    assert_false(x86_64_has_callers_fp(NULL, 0, &bytes));
    assert_false(x86_64_has_callers_fp(BYTES(POP_FP, RET), &bytes));
    assert_false(x86_64_has_callers_fp(BYTES(ADD_8, POP_FP, RET), &bytes));
    assert_false(x86_64_has_callers_fp(BYTES(0xc9, RET), &bytes));                      /* leave */
    assert_false(x86_64_has_callers_fp(BYTES(0x48, 0x8b, 0x6c, 0x24, 8, RET), &bytes)); /* a load */
    assert_false(x86_64_has_callers_fp(BYTES(0xe9, 0, 1, 0, 0, PUSH_FP, SET_FP), &bytes));
    assert_false(x86_64_has_callers_fp(BYTES(CALL, RET), &bytes));
    assert_false(x86_64_has_callers_fp(BYTES(0x41, 0xff, 0xd2, RET), &bytes)); /* call *%r10 */
    assert_false(x86_64_has_callers_fp(BYTES(0x0f, 0x0b, PUSH_FP, SET_FP), &bytes)); /* ud2 */
    assert_false(x86_64_has_callers_fp(BYTES(0xcc, PUSH_FP, SET_FP), &bytes));
    assert_false(x86_64_has_callers_fp(BYTES(0x48, 0x89, 0xec, RET), &bytes)); /* mov %rbp, %rsp */
    assert_false(x86_64_has_callers_fp(BYTES(0x50, RET), &bytes));             /* below SP */
    assert_false(x86_64_has_callers_fp(BYTES(PUSH_FP), &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_return_counts),
        cmocka_unit_test(calls_on_another_stack_have_no_effect),
        cmocka_unit_test(jumps_state_their_targets),
        cmocka_unit_test(other_ways_are_unknown),
        cmocka_unit_test(before_the_frame_and_behind_it_fp_is_the_callers),
        cmocka_unit_test(in_the_frame_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
