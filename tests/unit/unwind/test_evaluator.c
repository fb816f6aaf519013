/* SPDX-License-Identifier: MIT */
/* The full evaluator: expressions, and steps by rules that no row can hold. */
#include "unwind/cfi/expression.h"

#include "cfi_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LO = 0x7000, WORDS = 64, HI = LO + 8 * WORDS, RBX = 3, RSP = 7, R9 = 9, R12 = 12, RIP = 16 };

static uint64_t words[WORDS];
static const struct stack_view stack = {LO, HI, (const uint8_t *)words, NULL};

/* rdi (5) is 1000, r9 (9) is -2, rsp is 0x7100; rax (0) is not known. */
static struct full_regs some_regs(void)
{
    struct full_regs regs = {.known = ((1u << 17) - 1) & ~1u};
    for (uint64_t i = 0; i < 17; i++)
        regs.value[i] = 0x1000 * i;
    regs.value[5] = 1000;
    regs.value[R9] = (uint64_t)-2;
    regs.value[RSP] = 0x7100;
    return regs;
}

static void assert_value(uint64_t expected, const uint8_t *bytes, size_t size)
{
    struct full_regs regs = some_regs();
    const uint64_t cfa = 0x7180;
    uint64_t value;
    uint32_t left = EXPRESSION_OPERATIONS_MAX;
    const struct frame_state frame = {&regs, &stack, NULL, &left};
    assert_true(expression_evaluate(bytes, size, &frame, &cfa, &value));
    assert_int_equal(value, expected);
}

static void assert_no_value(const uint8_t *bytes, size_t size)
{
    struct full_regs regs = some_regs();
    uint64_t value;
    uint32_t left = EXPRESSION_OPERATIONS_MAX;
    const struct frame_state frame = {&regs, &stack, NULL, &left};
    assert_false(expression_evaluate(bytes, size, &frame, NULL, &value));
}

static void constants_are_read_with_their_width_and_sign(void **state)
{
    (void)state;
    assert_value(0, BYTES(0x30));
    assert_value(31, BYTES(0x4f));
    assert_value(0xfe, BYTES(0x08, 0xfe));
    assert_value((uint64_t)-2, BYTES(0x09, 0xfe));
    assert_value(0xfeff, BYTES(0x0a, 0xff, 0xfe));
    assert_value((uint64_t)-257, BYTES(0x0b, 0xff, 0xfe));
    assert_value(0xfffffffe, BYTES(0x0c, 0xfe, 0xff, 0xff, 0xff));
    assert_value((uint64_t)-2, BYTES(0x0d, 0xfe, 0xff, 0xff, 0xff));
    assert_value(0x8000000000000001, BYTES(0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80));
    assert_value(0x8000000000000001, BYTES(0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80));
    assert_value(300, BYTES(0x10, 0xac, 2));
    assert_value((uint64_t)-300, BYTES(0x11, 0xd4, 0x7d));
}

static void registers_and_memory_are_read(void **state)
{
    (void)state;
    words[2] = 0x1122334455667788;
    assert_value(1008, BYTES(0x75, 8));                              /* breg5 8 */
    assert_value(992, BYTES(0x92, 5, 0x78));                         /* bregx 5, -8 */
    assert_value(0x1122334455667788, BYTES(0x0a, 0x10, 0x70, 0x06)); /* const2u 0x7010; deref */
    assert_value(0x88, BYTES(0x0a, 0x10, 0x70, 0x94, 1));            /* deref_size */
    assert_value(0x7788, BYTES(0x0a, 0x10, 0x70, 0x94, 2));
    assert_value(0x55667788, BYTES(0x0a, 0x10, 0x70, 0x94, 4));
    assert_value(0x1122334455667788, BYTES(0x0a, 0x10, 0x70, 0x94, 8));
    assert_no_value(BYTES(0x70, 0));                   /* rax is not known */
    assert_no_value(BYTES(0x92, 40, 0));               /* a register that nobody follows */
    assert_no_value(BYTES(0x0a, 0x00, 0x72, 0x06));    /* right behind the view */
    assert_no_value(BYTES(0x0a, 0x10, 0x70, 0x94, 3)); /* three bytes */
}

static void stack_operations_move_values(void **state)
{
    (void)state;
    assert_value(0x7180, BYTES(0x96));                          /* nop: the CFA was pushed before */
    assert_value(10, BYTES(0x35, 0x12, 0x22));                  /* 5 dup plus */
    assert_value(0x7180, BYTES(0x35, 0x13));                    /* 5 drop */
    assert_value(2, BYTES(0x32, 0x35, 0x14));                   /* 2 5 over */
    assert_value(1, BYTES(0x31, 0x32, 0x33, 0x15, 2));          /* 1 2 3 pick 2 */
    assert_value(3, BYTES(0x32, 0x35, 0x16, 0x1c));             /* 2 5 swap minus = 5 - 2 */
    assert_value(2, BYTES(0x31, 0x32, 0x33, 0x17));             /* 1 2 3 rot = 3 1 2 */
    assert_value(1, BYTES(0x31, 0x32, 0x33, 0x17, 0x13));       /* … drop */
    assert_value(3, BYTES(0x31, 0x32, 0x33, 0x17, 0x13, 0x13)); /* … drop */
}

static void arithmetic_is_that_of_dwarf(void **state)
{
    (void)state;
    assert_value(4, BYTES(0x36, 0x3c, 0x1a));                  /* 6 and 12 */
    assert_value(14, BYTES(0x36, 0x3c, 0x21));                 /* 6 or 12 */
    assert_value(10, BYTES(0x36, 0x3c, 0x27));                 /* 6 xor 12 */
    assert_value((uint64_t)-6, BYTES(0x36, 0x3c, 0x1c));       /* 6 - 12 */
    assert_value(72, BYTES(0x36, 0x3c, 0x1e));                 /* 6 * 12 */
    assert_value((uint64_t)-1, BYTES(0x79, 0, 0x32, 0x1b));    /* -2 / 2: signed */
    assert_value(2, BYTES(0x3e, 0x34, 0x1d));                  /* 14 mod 4 */
    assert_value(2, BYTES(0x79, 0, 0x19));                     /* abs -2 */
    assert_value(2, BYTES(0x79, 0, 0x1f));                     /* neg -2 */
    assert_value(1, BYTES(0x79, 0, 0x20));                     /* not -2 */
    assert_value(306, BYTES(0x36, 0x23, 0xac, 2));             /* 6 plus_uconst 300 */
    assert_value(24, BYTES(0x36, 0x32, 0x24));                 /* 6 << 2 */
    assert_value(UINT64_MAX >> 1, BYTES(0x79, 0, 0x31, 0x25)); /* -2 >> 1 */
    assert_value((uint64_t)-1, BYTES(0x79, 0, 0x31, 0x26));    /* -2 >> 1, signed */
    assert_value(0, BYTES(0x36, 0x08, 64, 0x24));              /* shifted out */
    assert_value(0, BYTES(0x36, 0x08, 200, 0x25));
    assert_value((uint64_t)-1, BYTES(0x79, 0, 0x08, 200, 0x26));
    assert_no_value(BYTES(0x36, 0x30, 0x1b)); /* 6 / 0 */
    assert_no_value(BYTES(0x36, 0x30, 0x1d)); /* 6 mod 0 */
    /* The smallest number by -1 */
    assert_no_value(BYTES(0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b));
}

static void comparisons_are_signed(void **state)
{
    (void)state;
    static const struct {
        uint8_t op;
        bool less, equal, greater; /* what it says of -2 ? 3, 3 ? 3, 3 ? -2 */
    } ops[] = {
        {0x29, 0, 1, 0}, {0x2a, 0, 1, 1}, {0x2b, 0, 0, 1},
        {0x2c, 1, 1, 0}, {0x2d, 1, 0, 0}, {0x2e, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        assert_value(ops[i].less, BYTES(0x79, 0, 0x33, ops[i].op));
        assert_value(ops[i].equal, BYTES(0x33, 0x33, ops[i].op));
        assert_value(ops[i].greater, BYTES(0x33, 0x79, 0, ops[i].op));
    }
}

static void branches_go_both_ways_and_come_to_an_end(void **state)
{
    (void)state;
    /* 7; 1 bra +1 over lit0; the top is 7. With 0 it is not taken. */
    assert_value(7, BYTES(0x37, 0x31, 0x28, 1, 0, 0x30));
    assert_value(0, BYTES(0x37, 0x30, 0x28, 1, 0, 0x30));
    assert_value(7, BYTES(0x37, 0x2f, 1, 0, 0x30));
    assert_no_value(BYTES(0x31, 0x2f, 0xfd, 0xff));       /* skip to itself, forever */
    assert_no_value(BYTES(0x31, 0x2f, 0x00, 0x80));       /* to before the expression */
    assert_no_value(BYTES(0x31, 0x2f, 0xff, 0x7f, 0x30)); /* to behind it */
}

static void malformed_expressions_have_no_value(void **state)
{
    (void)state;
    uint8_t deep[33];
    memset(deep, 0x31, sizeof(deep));
    assert_no_value(BYTES(0x13));             /* drop from nothing */
    assert_no_value(BYTES(0x31, 0x22));       /* plus with one value */
    assert_no_value(BYTES(0x31, 0x15, 9));    /* pick out of nine */
    assert_no_value(BYTES(0x0e, 1, 2));       /* a constant cut off */
    assert_no_value(BYTES(0x10, 0x80));       /* LEB128 without an end */
    assert_no_value(BYTES(0x31, 0x31, 0xe0)); /* no such operation */
    assert_no_value(deep, sizeof(deep));      /* deeper than any compiler needs */
    assert_no_value(deep, 0);                 /* nothing at all */
}

/* The registers after one step by a function with these instructions; the stack holds its
 * addresses. */
static enum unwind_result step_by(const char *augmentation, const uint8_t *code, size_t code_bytes,
                                  struct full_regs *regs)
{
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, augmentation, BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, code, code_bytes);
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = LO + 8 * i;
    *regs = some_regs();
    bool is_signal;
    enum unwind_result result = unwind_module_step(module, TEXT + 0x110, regs, &stack, &is_signal);
    assert_int_equal(is_signal, augmentation[2] == 'S');
    unwind_module_close(module);
    return result;
}

static void every_kind_of_register_rule_is_followed(void **state)
{
    (void)state;
    struct full_regs regs;
    /* CFA = r9 + 0x7102; rbx saved at CFA - 16; r12 = CFA - 24; rbp in rdi; r13 where breg7 8 says;
     * r14 = lit7; r15 undefined */
    assert_int_equal(step_by("zR",
                             BYTES(0x0c, R9, 0x92, 0xe2, 1,          /* */
                                   0x83, 2, 0x14, R12, 3,            /* */
                                   0x09, 6, 5, 0x10, 13, 2, 0x77, 8, /* */
                                   0x16, 14, 1, 0x37, 0x07, 15),
                             &regs),
                     UNWIND_OK);
    const uint64_t cfa = 0x7110;
    assert_int_equal(regs.value[RSP], cfa);
    assert_int_equal(regs.value[RIP], cfa - 8);
    assert_int_equal(regs.value[RBX], cfa - 16);
    assert_int_equal(regs.value[R12], cfa - 24);
    assert_int_equal(regs.value[6], 1000);
    assert_int_equal(regs.value[13], 0x7108);
    assert_int_equal(regs.value[14], 7);
    /* What the CFI does not speak of keeps its value; what is undefined is lost. */
    assert_int_equal(regs.known, 0x17ffe);
}

static void step_needs_known_registers_and_a_growing_stack(void **state)
{
    (void)state;
    struct full_regs regs;
    assert_int_equal(step_by("zR", BYTES(0x0c, 0, 8), &regs), UNWIND_COMPLEX);  /* on rax */
    assert_int_equal(step_by("zR", BYTES(0x0c, 99, 8), &regs), UNWIND_COMPLEX); /* on xmm82 */
    assert_int_equal(step_by("zR", BYTES(0x09, 16, 0), &regs), UNWIND_COMPLEX); /* PC in rax */
    assert_int_equal(step_by("zR", BYTES(0x07, 16), &regs), UNWIND_END);
    assert_int_equal(step_by("zR", BYTES(0x0e, 0), &regs), UNWIND_OFF_STACK); /* CFA = SP */
    assert_int_equal(step_by("zR", BYTES(0x0e, 0x80, 8), &regs), UNWIND_OFF_STACK);
    /* vfork: SP does not grow where the return address is in a register (rdi). */
    assert_int_equal(step_by("zR", BYTES(0x0e, 0, 0x09, 16, 5), &regs), UNWIND_OK);
    assert_int_equal(regs.value[RIP], 1000);
    assert_int_equal(regs.value[RSP], 0x7100);
}

static void signal_frame_may_lead_anywhere_inside_the_view(void **state)
{
    (void)state;
    struct full_regs regs;
    /* CFA = rsp - 0x80, PC saved at CFA - 8 */
    assert_int_equal(step_by("zRS", BYTES(0x12, RSP, 16), &regs), UNWIND_OK);
    assert_int_equal(regs.value[RSP], 0x7080);
    assert_int_equal(step_by("zR", BYTES(0x12, RSP, 16), &regs), UNWIND_OFF_STACK);
    assert_int_equal(step_by("zRS", BYTES(0x12, RSP, 0x40), &regs), UNWIND_OFF_STACK); /* HI + … */
}

static void operations_of_all_expressions_of_a_step_are_limited(void **state)
{
    (void)state;
    enum { NOPS = 160 };
    struct full_regs regs;
    struct buffer code = {0};
    for (uint8_t reg = R12; reg < R12 + 2; reg++) {
        buffer_append(&code, BYTES(0x16, reg, 0x80 | (NOPS + 1 - 128), 1, 0x37));
        for (int i = 0; i < NOPS; i++)
            buffer_u8(&code, 0x96);
    }
    assert_int_equal(step_by("zR", code.bytes, code.size, &regs), UNWIND_OK);
    assert_int_equal(regs.value[R12], 7);
    assert_true(regs.known >> R12 & 1);
    assert_false(regs.known >> (R12 + 1) & 1);
    buffer_free(&code);
}

/* A MiB of instructions, then a row for each of 32 bytes of code. */
static struct unwind_module *module_with_a_large_fde(void)
{
    enum { NOPS = 1 << 20 };
    struct buffer frame = {0}, code = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    buffer_zeros(&code, NOPS);
    for (int i = 0; i < 31; i++)
        buffer_u8(&code, 0x41);
    add_fde(&frame, cie, TEXT + 0x100, 0x20, code.bytes, code.size);
    buffer_free(&code);
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    return module;
}

static void instructions_run_for_a_multiple_of_their_bytes(void **state)
{
    (void)state;
    struct unwind_module *module = module_with_a_large_fde();
    unsigned steps = 0;
    for (uint64_t i = 0; i < 32; i++) {
        struct full_regs regs = some_regs();
        bool is_signal;
        steps +=
            unwind_module_step(module, TEXT + 0x100 + i, &regs, &stack, &is_signal) == UNWIND_OK;
    }
    assert_int_equal(steps, 9); /* 8, and the first MiB */
    assert_int_equal(unwind_module_refused_steps(module), 32 - steps);
    for (int i = 0; i < 100; i++) { /* a row is kept */
        struct full_regs regs = some_regs();
        bool is_signal;
        assert_int_equal(unwind_module_step(module, TEXT + 0x107, &regs, &stack, &is_signal),
                         UNWIND_OK);
        assert_int_equal(regs.value[RSP], 0x7108);
    }
    unwind_module_close(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_read_with_their_width_and_sign),
        cmocka_unit_test(registers_and_memory_are_read),
        cmocka_unit_test(stack_operations_move_values),
        cmocka_unit_test(arithmetic_is_that_of_dwarf),
        cmocka_unit_test(comparisons_are_signed),
        cmocka_unit_test(branches_go_both_ways_and_come_to_an_end),
        cmocka_unit_test(malformed_expressions_have_no_value),
        cmocka_unit_test(every_kind_of_register_rule_is_followed),
        cmocka_unit_test(step_needs_known_registers_and_a_growing_stack),
        cmocka_unit_test(signal_frame_may_lead_anywhere_inside_the_view),
        cmocka_unit_test(operations_of_all_expressions_of_a_step_are_limited),
        cmocka_unit_test(instructions_run_for_a_multiple_of_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
