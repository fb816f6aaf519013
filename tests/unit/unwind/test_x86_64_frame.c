/* SPDX-License-Identifier: MIT */
/* Frames in hand-written machine code. */
#include "unwind/arch/x86_64_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

#define PROLOGUE 0x55, 0x53, 0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0xfb
/* add $0x28, %rsp; pop %rbx; pop %rbp */
#define EPILOGUE 0x48, 0x83, 0xc4, 0x28, 0x5b, 0x5d

static void the_return_address_is_above_pushes_and_locals(void **state)
{
    (void)state;
    struct code_frame frame = x86_64_frame_at(NULL, 0);
    assert_true(frame.is_known && frame.return_bytes == 0 && !frame.saves_fp);
    frame = x86_64_frame_at(BYTES(0x55));
    assert_true(frame.is_known && frame.return_bytes == 8 && frame.saves_fp);
    assert_int_equal(frame.saved_fp_return_bytes, 8);
    frame = x86_64_frame_at(BYTES(PROLOGUE));
    assert_true(frame.is_known && frame.return_bytes == 56 && frame.saves_fp && !frame.has_fp);
    frame = x86_64_frame_at(BYTES(PROLOGUE, 0x48, 0x83, 0xc4, 0x28, 0x5b));
    assert_true(frame.is_known && frame.return_bytes == 8 && frame.saves_fp);
    frame = x86_64_frame_at(BYTES(PROLOGUE, EPILOGUE));
    assert_true(frame.is_known && frame.return_bytes == 0 && !frame.saves_fp);
}

static void behind_a_return_the_frame_is_as_before_the_epilogue(void **state)
{
    (void)state;
    struct code_frame frame = x86_64_frame_at(BYTES(PROLOGUE, EPILOGUE, 0xc3));
    assert_true(frame.is_known && frame.return_bytes == 56 && frame.saves_fp);
    frame = x86_64_frame_at(BYTES(PROLOGUE, EPILOGUE, 0xe9, 0, 1, 0, 0, 0x90));
    assert_true(frame.is_known && frame.return_bytes == 56);
}

static void pops_apart_from_one_another_are_one_epilogue(void **state)
{
    (void)state;
    /* The second epilogue has an addition between its parts. */
    struct code_frame frame =
        x86_64_frame_at(BYTES(PROLOGUE, EPILOGUE, 0xc3, 0x90, 0x48, 0x83, 0xc4, 0x28, 0x48, 0x83,
                              0xc0, 1, 0x5b, 0x48, 0x83, 0xd0, 1, 0x5d, 0x48, 0x83, 0xd0, 1, 0xc3));
    assert_true(frame.is_known && frame.return_bytes == 56 && frame.saves_fp);
}

/* push %rdx; push %rax; call; pop %rcx; pop %rsi; jmp back */
static void popped_arguments_are_no_epilogue(void **state)
{
    (void)state;
    struct code_frame frame = x86_64_frame_at(
        BYTES(PROLOGUE, 0x52, 0x50, 0xe8, 0, 0, 0, 0, 0x59, 0x5e, 0xeb, 0xf0, 0x90));
    assert_true(frame.is_known && frame.return_bytes == 56);
}

/* push (%rsp); push $0; call; pop %rcx; pop %rsi; pop 8(%rsp) */
static void words_of_memory_are_pushed_and_popped(void **state)
{
    (void)state;
    const uint8_t code[] = {PROLOGUE, 0xff, 0x34, 0x24, 0x6a, 0,    0xe8, 0,    0,   0,
                            0,        0x59, 0x5e, 0x8f, 0x44, 0x24, 0x08, 0xff, 0xd0};
    assert_int_equal(x86_64_frame_at(code, 19).return_bytes, 72);
    assert_int_equal(x86_64_frame_at(code, 21).return_bytes, 56);
    assert_int_equal(x86_64_frame_at(code, 25).return_bytes, 48);
    struct code_frame frame = x86_64_frame_at(code, sizeof(code)); /* call *%rax pushes nothing */
    assert_true(frame.is_known && frame.return_bytes == 48);
}

/* The branch skips the first push and a return: test %rdi, %rdi; jz; push %rbx; pop %rbx; ret */
static void behind_a_return_the_frame_is_that_of_the_jump(void **state)
{
    (void)state;
    struct code_frame frame =
        x86_64_frame_at(BYTES(0x48, 0x85, 0xff, 0x74, 0x03, 0x53, 0x5b, 0xc3, 0x90));
    assert_true(frame.is_known && frame.return_bytes == 0);
    /* jz with 32 bits of distance */
    frame =
        x86_64_frame_at(BYTES(0x48, 0x85, 0xff, 0x0f, 0x84, 0x03, 0, 0, 0, 0x53, 0x5b, 0xc3, 0x90));
    assert_true(frame.is_known && frame.return_bytes == 0);
}

/* sub $40, %rsp; mov %rbp, 24(%rsp) */
static void fp_may_be_saved_by_a_move(void **state)
{
    (void)state;
    struct code_frame frame =
        x86_64_frame_at(BYTES(0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0x6c, 0x24, 0x18));
    assert_true(frame.is_known && frame.return_bytes == 40 && frame.saves_fp);
    assert_int_equal(frame.saved_fp_return_bytes, 16);
}

static void frame_pointers_lead_to_the_return_address(void **state)
{
    (void)state;
    /* push %rbp; mov %rsp, %rbp; push %rbx; sub %rax, %rsp (alloca) */
    struct code_frame frame =
        x86_64_frame_at(BYTES(0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x29, 0xc4));
    assert_true(!frame.is_known && frame.has_fp && frame.fp_return_bytes == 8);
    /* and $-32, %rsp */
    frame = x86_64_frame_at(BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0));
    assert_true(!frame.is_known && frame.has_fp);
    /* leave */
    frame = x86_64_frame_at(BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc9));
    assert_true(frame.is_known && frame.return_bytes == 0 && !frame.has_fp && !frame.saves_fp);
}

static void undecodable_code_has_no_frame(void **state)
{
    (void)state;
    struct code_frame frame = x86_64_frame_at(BYTES(0x55, 0x0f));
    assert_false(frame.is_known || frame.saves_fp || frame.has_fp);
}

/* mov %rsp, %rax; and $-64, %rsp; sub $0x80, %rsp; mov %rax, 0x60(%rsp) */
#define REALIGN 0x48, 0x89, 0xe0, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x81, 0xec, 0x80, 0, 0, 0
#define SAVE_COPY 0x48, 0x89, 0x44, 0x24, 0x60

static void a_copy_of_sp_leads_out_of_a_realigned_frame(void **state)
{
    (void)state;
    struct code_frame frame = x86_64_frame_at(BYTES(0x53, REALIGN));
    assert_true(!frame.is_known && frame.has_copy && !frame.saves_copy);
    assert_int_equal(frame.copy_register, 0); /* rax */
    assert_int_equal(frame.copy_return_bytes, 8);
    frame = x86_64_frame_at(BYTES(0x53, REALIGN, SAVE_COPY, 0x50));
    assert_true(!frame.is_known && frame.has_copy && frame.saves_copy);
    assert_int_equal(frame.saved_copy_bytes, 0x68);
    /* mov %rsp, %r14 */
    frame = x86_64_frame_at(BYTES(0x49, 0x89, 0xe6, 0x48, 0x83, 0xe4, 0xe0));
    assert_true(frame.has_copy);
    assert_int_equal(frame.copy_register, 14);
    assert_int_equal(frame.copy_return_bytes, 0);
    /* A frame that is not realigned needs no copy. */
    frame = x86_64_frame_at(BYTES(0x48, 0x89, 0xe0));
    assert_true(frame.is_known && !frame.has_copy);
}

static void the_copy_moved_back_ends_the_realigned_frame(void **state)
{
    (void)state;
    /* mov %rax, %rsp */
    struct code_frame frame = x86_64_frame_at(BYTES(0x53, REALIGN, 0x48, 0x89, 0xc4));
    assert_true(frame.is_known);
    assert_int_equal(frame.return_bytes, 8);
    /* mov 0x60(%rsp), %rsp; pop %rbx */
    frame = x86_64_frame_at(BYTES(0x53, REALIGN, SAVE_COPY, 0x48, 0x8b, 0x64, 0x24, 0x60, 0x5b));
    assert_true(frame.is_known);
    assert_int_equal(frame.return_bytes, 0);
    /* Behind the return the frame is realigned again. */
    frame =
        x86_64_frame_at(BYTES(0x53, REALIGN, SAVE_COPY, 0x48, 0x8b, 0x64, 0x24, 0x60, 0x5b, 0xc3));
    assert_true(!frame.is_known && frame.saves_copy);
    assert_int_equal(frame.saved_copy_bytes, 0x60);
    /* Another word, or register, leads nowhere. */
    frame = x86_64_frame_at(BYTES(0x53, REALIGN, SAVE_COPY, 0x48, 0x8b, 0x64, 0x24, 0x58));
    assert_false(frame.is_known);
    frame = x86_64_frame_at(BYTES(0x53, REALIGN, SAVE_COPY, 0x48, 0x89, 0xcc));
    assert_false(frame.is_known);
}

/* The prologue of libjpeg-turbo: push %rbp; mov %rsp, %rax; sub $4, %rsp; and $-32, %rsp; mov %rax, (%rsp);
 * mov %rsp, %rbp; lea -0x100(%rbp), %rsp; push %rbx */
#define ALIGNED_FP                                                                            \
    0x55, 0x48, 0x89, 0xe0, 0x48, 0x83, 0xec, 0x04, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x89, 0x04, \
        0x24, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0xa5, 0x00, 0xff, 0xff, 0xff, 0x53

static void a_copy_below_a_realigned_frame_pointer_leads_out(void **state)
{
    (void)state;
    struct code_frame frame = x86_64_frame_at(BYTES(ALIGNED_FP));
    assert_true(!frame.is_known && !frame.has_fp && frame.saves_copy && frame.saves_fp);
    assert_int_equal(frame.saved_copy_bytes, 0x108);
    assert_int_equal(frame.copy_return_bytes, 8);
    assert_int_equal(frame.saved_fp_return_bytes, 8);
    /* pop %rbx; mov %rbp, %rsp */
    frame = x86_64_frame_at(BYTES(ALIGNED_FP, 0x5b, 0x48, 0x89, 0xec));
    assert_true(!frame.is_known && frame.saves_copy);
    assert_int_equal(frame.saved_copy_bytes, 0);
    /* pop %rsp, and pop %rbp */
    frame = x86_64_frame_at(BYTES(ALIGNED_FP, 0x5b, 0x48, 0x89, 0xec, 0x5c));
    assert_true(frame.is_known && frame.return_bytes == 8 && frame.saves_fp);
    frame = x86_64_frame_at(BYTES(ALIGNED_FP, 0x5b, 0x48, 0x89, 0xec, 0x5c, 0x5d));
    assert_true(frame.is_known && frame.return_bytes == 0 && !frame.saves_fp);
    /* Behind the return: as before the epilogue. */
    frame = x86_64_frame_at(BYTES(ALIGNED_FP, 0x5b, 0x48, 0x89, 0xec, 0x5c, 0x5d, 0xc3));
    assert_true(!frame.is_known && frame.saves_copy);
    assert_int_equal(frame.saved_copy_bytes, 0x108);
}

static void an_address_below_the_frame_pointer_moves_sp(void **state)
{
    (void)state;
    /* push %rbp; mov %rsp, %rbp; push %rbx; sub $0x20, %rsp; lea -8(%rbp), %rsp */
#define BY_FP 0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x20, 0x48, 0x8d, 0x65, 0xf8
    struct code_frame frame = x86_64_frame_at(BYTES(BY_FP));
    assert_true(frame.is_known && frame.has_fp && frame.return_bytes == 16);
    /* pop %rbx; pop %rbp; ret */
    frame = x86_64_frame_at(BYTES(BY_FP, 0x5b, 0x5d, 0xc3));
    assert_true(frame.is_known && frame.return_bytes == 48);
    /* and $-32, %rsp before: FP is from before the realignment, so SP is unknown */
    frame = x86_64_frame_at(
        BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x8d, 0x65, 0xf8));
    assert_true(!frame.is_known && frame.has_fp);
}

static void random_code_is_harmless(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(64);
    srandom(5);
    for (int round = 0; round < 200000; round++) {
        size_t size = (size_t)random() % 64;
        for (size_t i = 0; i < 64; i++)
            bytes[i] = (uint8_t)random();
        (void)x86_64_frame_at(bytes + 64 - size, size); /* the allocation ends with the bytes */
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_return_address_is_above_pushes_and_locals),
        cmocka_unit_test(behind_a_return_the_frame_is_as_before_the_epilogue),
        cmocka_unit_test(pops_apart_from_one_another_are_one_epilogue),
        cmocka_unit_test(popped_arguments_are_no_epilogue),
        cmocka_unit_test(words_of_memory_are_pushed_and_popped),
        cmocka_unit_test(behind_a_return_the_frame_is_that_of_the_jump),
        cmocka_unit_test(fp_may_be_saved_by_a_move),
        cmocka_unit_test(frame_pointers_lead_to_the_return_address),
        cmocka_unit_test(undecodable_code_has_no_frame),
        cmocka_unit_test(a_copy_of_sp_leads_out_of_a_realigned_frame),
        cmocka_unit_test(the_copy_moved_back_ends_the_realigned_frame),
        cmocka_unit_test(a_copy_below_a_realigned_frame_pointer_leads_out),
        cmocka_unit_test(an_address_below_the_frame_pointer_moves_sp),
        cmocka_unit_test(random_code_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
