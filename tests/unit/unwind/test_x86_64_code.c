/* SPDX-License-Identifier: MIT */
/* Calls and jumps in hand-written machine code; lengths of instructions as objdump has them. */
#include "unwind/arch/x86_64_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static const uint64_t svma = 0x401000;

static void assert_call(struct code_branch call, enum code_branch_kind kind, uint64_t target)
{
    assert_int_equal(call.kind, kind);
    assert_int_equal(call.svma, target);
}

static void the_call_before_a_return_address_is_read(void **state)
{
    (void)state;
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0xe8, 0x10, 0, 0, 0), svma), BRANCH_DIRECT,
                svma + 0x10);
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0xe8, 0xfb, 0xff, 0xff, 0xff), svma),
                BRANCH_DIRECT, svma - 5);
    assert_call(x86_64_call_before(BYTES(0x90, 0xff, 0x15, 0, 1, 0, 0), svma), BRANCH_SLOT,
                svma + 0x100);
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0), svma),
                BRANCH_INDIRECT, 0);
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4), svma),
                BRANCH_INDIRECT, 0);
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18), svma),
                BRANCH_INDIRECT, 0);
    assert_call(x86_64_call_before(BYTES(0xff, 0x94, 0xc8, 0, 2, 0, 0), svma), BRANCH_INDIRECT, 0);
}

static void other_instructions_are_no_calls(void **state)
{
    (void)state;
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90), svma),
                BRANCH_NONE, 0);
    /* jmp *%rax; push (%rax); call with bytes missing */
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0), svma),
                BRANCH_NONE, 0);
    assert_call(x86_64_call_before(BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x30), svma),
                BRANCH_NONE, 0);
    assert_call(x86_64_call_before(BYTES(0xe8, 0, 0, 0, 0), svma), BRANCH_NONE, 0);
}

static void jumps_of_stubs_are_read(void **state)
{
    (void)state;
    assert_call(x86_64_jump_at(BYTES(0xff, 0x25, 0, 1, 0, 0), svma), BRANCH_SLOT, svma + 0x106);
    assert_call(x86_64_jump_at(BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 1, 0, 0), svma),
                BRANCH_SLOT, svma + 0x10b);
    assert_call(x86_64_jump_at(BYTES(0xe9, 0x20, 0, 0, 0), svma), BRANCH_DIRECT, svma + 0x25);
    assert_call(x86_64_jump_at(BYTES(0xeb, 0xfe), svma), BRANCH_DIRECT, svma);
    assert_call(x86_64_jump_at(BYTES(0xff, 0x25, 0, 1, 0), svma), BRANCH_NONE, 0);
    assert_call(x86_64_jump_at(BYTES(0xff, 0xe0), svma), BRANCH_NONE, 0);
    assert_call(x86_64_jump_at(NULL, 0, svma), BRANCH_NONE, 0);
}

/* push %rbp; push %rbx; sub $0x28, %rsp; mov %rdi, %rbx */
static void the_jump_behind_a_prologue_is_found(void **state)
{
    (void)state;
    /* sub $16,%rsp; mov %rbp,8(%rax); push (%rax); jmp *%rax */
    const uint8_t enters[] = {0x48, 0x83, 0xec, 0x10, 0x48, 0x89,
                              0x68, 0x08, 0xff, 0x30, 0xff, 0xe0};
    assert_int_equal(x86_64_first_indirect_jump(enters, sizeof(enters), false), 10);
    assert_int_equal(x86_64_first_indirect_jump(enters, sizeof(enters) - 1, false), 0);
    /* Branches before: je, jne near, call, call *%rax, jmp, ret, then jmp *%rax. */
    const uint8_t branches[][8] = {
        {0x50, 0x74, 0x01, 0x58, 0xff, 0xe0}, {0x0f, 0x85, 0, 0, 0, 0, 0xff, 0xe0},
        {0xe8, 0, 0, 0, 0, 0xff, 0xe0},       {0x50, 0xff, 0xd0, 0x58, 0xff, 0xe0},
        {0x50, 0xeb, 0x00, 0xff, 0xe0},       {0x50, 0x58, 0xc3, 0xff, 0xe0},
    };
    for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
        assert_int_equal(x86_64_first_indirect_jump(branches[i], sizeof(branches[i]), false), 0);
    assert_int_equal(x86_64_first_indirect_jump(branches[0], sizeof(branches[0]), true), 0);
    assert_int_equal(x86_64_first_indirect_jump(branches[2], sizeof(branches[2]), true), 5);
    assert_int_equal(x86_64_first_indirect_jump(branches[3], sizeof(branches[3]), true), 4);
    assert_int_equal(x86_64_first_indirect_jump(branches[5], sizeof(branches[5]), true), 0);
}

static void an_instruction_cut_off_at_the_end_is_read_up_to_there(void **state)
{
    (void)state;
    uint8_t *byte = malloc(1); /* the sanitizer finds a read behind */
    *byte = 0xff;
    assert_int_equal(x86_64_first_indirect_jump(byte, 1, false), 0);
    free(byte);
}

static bool may_start_behind(const uint8_t *bytes, size_t size, bool may_start)
{
    assert_int_equal(x86_64_pass_instruction(bytes, size, &may_start), size);
    return may_start;
}

static void a_function_may_start_behind_what_does_not_go_on(void **state)
{
    (void)state;
    assert_true(may_start_behind(BYTES(0xc3), false));
    assert_true(may_start_behind(BYTES(0xeb, 0xfe), false));
    assert_true(may_start_behind(BYTES(0xff, 0xe0), false));
    assert_true(may_start_behind(BYTES(0xe8, 0, 0, 0, 0), false)); /* abort() */
    assert_true(may_start_behind(BYTES(0x0f, 0x0b), false));
    assert_false(may_start_behind(BYTES(0x89, 0xc7), true));
    assert_false(may_start_behind(BYTES(0xff, 0xc0), true)); /* inc %eax */
    /* nop, nopl 0(%rax) */
    assert_true(may_start_behind(BYTES(0x90), true));
    assert_false(may_start_behind(BYTES(0x90), false));
    assert_true(may_start_behind(BYTES(0x0f, 0x1f, 0x40, 0), true));
    assert_false(may_start_behind(BYTES(0x0f, 0x1f, 0x40, 0), false));
}

static void ends_of_threads_and_signal_handlers_are_known(void **state)
{
    (void)state;
    assert_true(x86_64_ends_thread(BYTES(0xf4)));
    assert_true(x86_64_ends_thread(BYTES(0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05)));
    assert_false(x86_64_ends_thread(BYTES(0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3b, 0x0f, 0x05)));
    /* xor %rdi, %rdi; call; hlt: and the same without the halt, or behind a jump */
    assert_true(x86_64_ends_thread(BYTES(0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4)));
    assert_false(x86_64_ends_thread(BYTES(0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0x90)));
    assert_false(x86_64_ends_thread(BYTES(0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4)));
    assert_false(x86_64_ends_thread(BYTES(0xeb, 1, 0xe8, 1, 2, 3, 4, 0xf4)));
    assert_false(x86_64_ends_thread(BYTES(0x75, 1, 0xe8, 1, 2, 3, 4, 0xf4)));
    assert_false(x86_64_ends_thread(BYTES(0x90, 0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4, 0xf4)));
    assert_false(x86_64_ends_thread(NULL, 0));
    assert_true(x86_64_is_sigreturn(BYTES(0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05)));
    assert_false(x86_64_is_sigreturn(BYTES(0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f)));
}

/* "  401000:\t55 48 89\tpush …": the bytes, or 0 for other lines and for data. */
static size_t bytes_of_line(char *line, uint8_t bytes[16])
{
    char *hex = strchr(line, '\t'), *text = hex ? strchr(hex + 1, '\t') : NULL;
    size_t count = 0;
    if (!text || strstr(text, "(bad)") || strstr(text, ".byte"))
        return 0;
    for (char *end = hex + 1; count < 16; count++) {
        char *start = end;
        bytes[count] = (uint8_t)strtoul(start, &end, 16);
        if (end == start || end > text)
            break;
    }
    return count;
}

static void lengths_are_those_of_objdump(void **state)
{
    (void)state;
    char line[512];
    size_t count = 0, different = 0;
    FILE *lines = popen("objdump -d --insn-width=16 /proc/self/exe $(ldd " TARGETS_DIR
                        "/unwind_steps | grep -o '/[^ ]*libc.so.6')",
                        "r");
    assert_non_null(lines);
    while (fgets(line, sizeof(line), lines)) {
        uint8_t bytes[16];
        size_t size = bytes_of_line(line, bytes);
        if (size == 0)
            continue;
        count++;
        if (x86_64_instruction_bytes(bytes, size) != size && different++ < 10)
            printf("not decoded: %s", line);
    }
    pclose(lines);
    assert_true(count > 200000);
    assert_int_equal(different, 0);
}

/* loop, loope, loopne, in, out, enter, lret: of hand-written code, missing in the C library. */
static void operands_of_rare_instructions_belong_to_them(void **state)
{
    (void)state;
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xe2, 0xfe, 0x90, 0x90)), 2);
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xe1, 0xfe, 0x90, 0x90)), 2);
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xe0, 0xfe, 0x90, 0x90)), 2);
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xe4, 0x10, 0x90, 0x90)), 2);
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xe7, 0x10, 0x90, 0x90)), 2);
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xc8, 0x10, 0, 0, 0x90)), 4);
    assert_int_equal(x86_64_instruction_bytes(BYTES(0xca, 0x08, 0, 0x90)), 3);
}

/* Else a file of prefixes takes quadratic time. */
static void prefixes_end_at_15_bytes(void **state)
{
    (void)state;
    uint8_t bytes[64];
    memset(bytes, 0x36, sizeof(bytes));
    bytes[14] = 0x90;
    assert_int_equal(x86_64_instruction_bytes(bytes, sizeof(bytes)), 15);
    bytes[14] = 0x36;
    bytes[15] = 0x90;
    assert_int_equal(x86_64_instruction_bytes(bytes, sizeof(bytes)), 0);
}

static void random_bytes_are_harmless(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(64);
    srandom(5);
    for (int round = 0; round < 200000; round++) {
        size_t size = (size_t)random() % 64, at = 0;
        uint64_t target;
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random();
        uint8_t *end = bytes + 64 - size; /* the allocation ends with the bytes */
        memmove(end, bytes, size);
        assert_true(x86_64_instruction_bytes(end, size) <= size);
        (void)x86_64_call_before(end, size, svma);
        (void)x86_64_jump_at(end, size, svma);
        (void)x86_64_function_reference(end, size, svma, &target);
        while (x86_64_next_jump(end, size, &at, svma, &target))
            assert_true(at <= size);
        (void)x86_64_has_indirect_jump(end, size);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_call_before_a_return_address_is_read),
        cmocka_unit_test(other_instructions_are_no_calls),
        cmocka_unit_test(jumps_of_stubs_are_read),
        cmocka_unit_test(the_jump_behind_a_prologue_is_found),
        cmocka_unit_test(an_instruction_cut_off_at_the_end_is_read_up_to_there),
        cmocka_unit_test(a_function_may_start_behind_what_does_not_go_on),
        cmocka_unit_test(ends_of_threads_and_signal_handlers_are_known),
        cmocka_unit_test(lengths_are_those_of_objdump),
        cmocka_unit_test(operands_of_rare_instructions_belong_to_them),
        cmocka_unit_test(prefixes_end_at_15_bytes),
        cmocka_unit_test(random_bytes_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
