/* SPDX-License-Identifier: MIT */
/* Prologues of JIT compilers: with and without frame pointers. */
#include "unwind/arch/x86_64_prologue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define BEFORE(...) x86_64_fp_before_end(BYTES(__VA_ARGS__))

#define PUSH_RBP 0x55
#define SUB_0X30 0x48, 0x83, 0xec, 0x30
#define SUB_0X80 0x48, 0x81, 0xec, 0x80, 0, 0, 0
#define MOV_RBP_TO_0X20_RSP 0x48, 0x89, 0x6c, 0x24, 0x20
/* As gas encodes it, and as HotSpot does. */
#define MOV_RSP_RBP 0x48, 0x89, 0xe5
#define MOV_RSP_RBP_OF_HOTSPOT 0x48, 0x8b, 0xec
#define LEA_0X20_RSP_RBP 0x48, 0x8d, 0x6c, 0x24, 0x20
#define BODY 0x8b, 0x44, 0x8a, 0x10, 0xff, 0xc0, 0x90

static void functions_with_a_frame_pointer(void **state)
{
    (void)state;
    assert_int_equal(BEFORE(PUSH_RBP, MOV_RSP_RBP, BODY), CODE_FP_SET);
    assert_int_equal(BEFORE(PUSH_RBP, MOV_RSP_RBP_OF_HOTSPOT, SUB_0X30, BODY), CODE_FP_SET);
    assert_int_equal(BEFORE(PUSH_RBP, SUB_0X30, LEA_0X20_RSP_RBP, BODY), CODE_FP_SET);
    assert_int_equal(
        BEFORE(SUB_0X80, MOV_RBP_TO_0X20_RSP, MOV_RSP_RBP_OF_HOTSPOT, 0x48, 0x83, 0xc5, 0x20, BODY),
        CODE_FP_SET);
    assert_int_equal(BEFORE(0x8f, 0x45, 0x08, BODY), CODE_FP_SET);
}

static void functions_without(void **state)
{
    (void)state;
    assert_int_equal(BEFORE(PUSH_RBP, SUB_0X30, BODY), CODE_FP_FREE);
    assert_int_equal(BEFORE(PUSH_RBP, SUB_0X80, BODY), CODE_FP_FREE);
    assert_int_equal(BEFORE(SUB_0X30, MOV_RBP_TO_0X20_RSP, BODY), CODE_FP_FREE);
    assert_int_equal(BEFORE(SUB_0X80, MOV_RBP_TO_0X20_RSP, BODY), CODE_FP_FREE);
    assert_int_equal(BEFORE(SUB_0X80, 0x48, 0x89, 0xac, 0x24, 0, 1, 0, 0, BODY), CODE_FP_FREE);
}

static void the_nearest_function_counts(void **state)
{
    (void)state;
    assert_int_equal(BEFORE(PUSH_RBP, MOV_RSP_RBP, BODY, PUSH_RBP, SUB_0X30, BODY), CODE_FP_FREE);
    assert_int_equal(BEFORE(PUSH_RBP, SUB_0X30, BODY, PUSH_RBP, MOV_RSP_RBP, BODY), CODE_FP_SET);
    assert_int_equal(x86_64_fp_from_start(BYTES(BODY, PUSH_RBP, MOV_RSP_RBP, PUSH_RBP, SUB_0X30)),
                     CODE_FP_SET);
}

static void local_variables_by_frame_pointer(void **state)
{
    (void)state;
    assert_int_equal(BEFORE(0x48, 0x89, 0x45, 0xe8), CODE_FP_SET);                   /* rax, -24 */
    assert_int_equal(BEFORE(0x4c, 0x8b, 0x45, 0xf8), CODE_FP_SET);                   /* -8, r8 */
    assert_int_equal(BEFORE(0x48, 0x89, 0x95, 0x58, 0xff, 0xff, 0xff), CODE_FP_SET); /* rdx, -168 */
    assert_int_equal(BEFORE(0x48, 0x8b, 0x45, 0x18),
                     CODE_FP_UNKNOWN); /* of an object, or an argument */
    assert_int_equal(BEFORE(0x48, 0x89, 0x95, 0x58, 0x01, 0, 0), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(0x48, 0x89, 0x44, 0x24, 0xe8), CODE_FP_UNKNOWN); /* by SP */
}

static void cut_prologues_are_none(void **state)
{
    (void)state;
    assert_int_equal(x86_64_fp_before_end(NULL, 0), CODE_FP_UNKNOWN);
    assert_int_equal(x86_64_fp_from_start(NULL, 0), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(0x48), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(0x48, 0x89), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(PUSH_RBP, 0x48, 0x83), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(SUB_0X30, 0x48, 0x89, 0x6c), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(0x48, 0x89, 0x95, 0x58, 0xff, 0xff), CODE_FP_UNKNOWN);
    assert_int_equal(BEFORE(BODY), CODE_FP_UNKNOWN);
}

static void an_entry_that_realigns_sp_is_found(void **state)
{
    (void)state;
    /* sub $0x4110, %rsp; and $-64, %rsp */
    const uint8_t entry[] = {0x90, 0x48, 0x81, 0xec, 0x10, 0x41, 0, 0, 0x48, 0x83, 0xe4, 0xc0};
    struct code_entry found = x86_64_realigning_entry(entry, sizeof(entry));
    assert_int_equal(found.bytes, 0x4110);
    assert_int_equal(found.alignment, 64);
    assert_int_equal(x86_64_realigning_entry(entry, sizeof(entry) - 1).bytes, 0);
    /* a small frame, a mask of other bits, and one of the sign alone */
    assert_int_equal(
        x86_64_realigning_entry(BYTES(0x48, 0x81, 0xec, 0x10, 1, 0, 0, 0x48, 0x83, 0xe4, 0xc0))
            .bytes,
        0);
    assert_int_equal(
        x86_64_realigning_entry(BYTES(0x48, 0x81, 0xec, 0, 64, 0, 0, 0x48, 0x83, 0xe4, 0xc4)).bytes,
        0);
    assert_int_equal(
        x86_64_realigning_entry(BYTES(0x48, 0x81, 0xec, 0, 64, 0, 0, 0x48, 0x83, 0xe4, 0x40)).bytes,
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_with_a_frame_pointer),
        cmocka_unit_test(functions_without),
        cmocka_unit_test(the_nearest_function_counts),
        cmocka_unit_test(local_variables_by_frame_pointer),
        cmocka_unit_test(cut_prologues_are_none),
        cmocka_unit_test(an_entry_that_realigns_sp_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
