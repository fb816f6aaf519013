/* SPDX-License-Identifier: MIT */
/* Stacks of aarch64, captured there and unwound here: whoever reads a recording of another machine. */
#include "cfi_bytes.h"

#include "unwind/arch/machine.h"
#include "unwind/offline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FP = 29, LR = 30, SP = 31, PC = 32, CAPTURED = 33 };

#define START (TEXT + 0x100)
#define OUTER (TEXT + 0x200)
#define MIDDLE (TEXT + 0x300)
#define LEAF (TEXT + 0x400)
#define NO_CFI (TEXT + 0x500)
#define BY_EXPRESSION (TEXT + 0x600)
#define STACK UINT64_C(0x7ff000)
#define SIGNED(pc) ((pc) | UINT64_C(0x003d) << 48)

/*
 *     start:   mov x29, 0; bl outer                           undefined: x30
 *     outer:   stp x29, x30, [sp, -32]!; …; bl middle         CFA sp+32, x29 CFA-32, x30 CFA-24
 *     middle:  paciasp; sub sp, sp, 80; str x30, [sp, 64]; …  CFA sp+80, x30 CFA-16, signed
 *     leaf:    … ret                                          CFA sp+0, x30 as it is
 *     by expression:    CFA: bregx x29, 32; x30 at: breg19 8; x29 at: bregx x12, -8
 */
static struct unwind_module *module_of_aarch64(void)
{
    struct buffer frame = {0};
    size_t cie = add_cie_of(&frame, "zR", LR, BYTES(0x0c, SP, 0));
    add_fde(&frame, cie, START, 0x20, BYTES(0x07, LR));
    add_fde(&frame, cie, OUTER, 0x40, BYTES(0x44, 0x0e, 32, 0x80 | FP, 4, 0x80 | LR, 3));
    add_fde(&frame, cie, MIDDLE, 0x50, BYTES(0x44, 0x2d, 0x48, 0x0e, 80, 0x80 | LR, 2));
    add_fde(&frame, cie, LEAF, 0x20, BYTES(0));
    add_fde(&frame, cie, BY_EXPRESSION, 0x20,
            BYTES(0x0f, 3, 0x92, FP, 32, 0x10, LR, 2, 0x83, 8, 0x10, FP, 3, 0x92, 12, 0x78));
    struct module_bytes bytes = {.eh_frame = frame,
                                 .eh_frame_svma = FRAME_SVMA,
                                 .text_svma = TEXT,
                                 .text_bytes = 0x10000,
                                 .machine = &unwind_aarch64};
    struct unwind_module *module;
    assert_int_equal(unwind_module_from_bytes(&module, &bytes, NULL), 0);
    assert_int_equal(bad_fdes(module), 0);
    return module;
}

static bool find(void *context, uint64_t pc, struct offline_mapping *mapping)
{
    *mapping = (struct offline_mapping){TEXT, TEXT + 0x10000, 0, context};
    return pc >= TEXT && pc < TEXT + 0x10000;
}

static struct offline_result unwind(const uint64_t *captured, const uint64_t *words, size_t count,
                                    uint64_t *pcs)
{
    struct unwind_module *module = module_of_aarch64();
    const struct offline_map map = {.find = find, .context = module, .machine = &unwind_aarch64};
    const struct stack_view stack = {STACK, STACK + 8 * count, (const uint8_t *)words, NULL};
    const struct offline_frames frames = {.pcs = pcs, .max = 10};
    struct full_regs regs;
    assert_true(
        unwind_machine_captured(&unwind_aarch64, &regs, (UINT64_C(1) << CAPTURED) - 1, captured));
    struct offline_result result = offline_unwind_in(&map, &regs, false, &stack, &frames);
    unwind_module_close(module);
    return result;
}

static void assert_frames(const uint64_t *pcs, struct offline_result result,
                          const uint64_t *expected, size_t count)
{
    assert_int_equal(result.frame_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pcs[i], expected[i]);
}

static void return_addresses_in_lr_signed_and_saved_are_found(void **state)
{
    (void)state;
    const uint64_t captured[CAPTURED] = {[LR] = MIDDLE + 0x30, [SP] = STACK, [PC] = LEAF + 8};
    const uint64_t words[14] = {[8] = SIGNED(OUTER + 0x20), [11] = START + 0x10};
    const uint64_t expected[] = {LEAF + 8, MIDDLE + 0x30, OUTER + 0x20, START + 0x10};
    uint64_t pcs[10];
    struct offline_result result = unwind(captured, words, 14, pcs);
    assert_frames(pcs, result, expected, 4);
    assert_int_equal(result.end, OFFLINE_ROOT);
}

static void lr_is_believed_once(void **state)
{
    (void)state;
    const uint64_t captured[CAPTURED] = {[LR] = LEAF + 4, [SP] = STACK, [PC] = LEAF + 8};
    const uint64_t words[4] = {0}, expected[] = {LEAF + 8, LEAF + 4};
    uint64_t pcs[10];
    struct offline_result result = unwind(captured, words, 4, pcs);
    assert_frames(pcs, result, expected, 2);
    assert_int_not_equal(result.end, OFFLINE_ROOT);
}

/* A function without CFI whose frame has 48 bytes of locals above its record: SP of its caller is not
 * known, so outer's CFI, which counts from it, must not be used. */
static void frame_records_lead_on_where_there_is_no_cfi(void **state)
{
    (void)state;
    const uint64_t captured[CAPTURED] = {[FP] = STACK, [SP] = STACK, [PC] = NO_CFI};
    const uint64_t words[14] = {STACK + 64,
                                SIGNED(OUTER + 0x20), [8] = 0, [9] = START + 0x10, [5] = LEAF};
    const uint64_t expected[] = {NO_CFI, OUTER + 0x20, START + 0x10};
    uint64_t pcs[10];
    struct offline_result result = unwind(captured, words, 14, pcs);
    assert_frames(pcs, result, expected, 3);
    assert_int_equal(result.end, OFFLINE_ROOT);
}

static void expressions_name_registers_by_the_machines_numbers(void **state)
{
    (void)state;
    const uint64_t captured[CAPTURED] = {
        [12] = STACK + 24, [19] = STACK, [FP] = STACK, [SP] = STACK, [PC] = BY_EXPRESSION + 8};
    /* x30 at 8, x29 at 16; outer, whose frame begins at the CFA, has its x30 at 32 + 8 */
    const uint64_t words[14] = {[1] = OUTER + 0x20, [2] = STACK, [5] = START + 0x10};
    const uint64_t expected[] = {BY_EXPRESSION + 8, OUTER + 0x20, START + 0x10};
    uint64_t pcs[10];
    struct offline_result result = unwind(captured, words, 14, pcs);
    assert_frames(pcs, result, expected, 3);
    assert_int_equal(result.end, OFFLINE_ROOT);
}

static void what_is_beyond_the_copy_is_cut(void **state)
{
    (void)state;
    const uint64_t captured[CAPTURED] = {[LR] = MIDDLE + 0x30, [SP] = STACK, [PC] = LEAF + 8};
    const uint64_t words[11] = {[8] = SIGNED(OUTER + 0x20)};
    const uint64_t expected[] = {LEAF + 8, MIDDLE + 0x30, OUTER + 0x20};
    uint64_t pcs[10];
    struct offline_result result = unwind(captured, words, 11, pcs);
    assert_frames(pcs, result, expected, 3);
    assert_int_equal(result.end, OFFLINE_CUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return_addresses_in_lr_signed_and_saved_are_found),
        cmocka_unit_test(lr_is_believed_once),
        cmocka_unit_test(frame_records_lead_on_where_there_is_no_cfi),
        cmocka_unit_test(expressions_name_registers_by_the_machines_numbers),
        cmocka_unit_test(what_is_beyond_the_copy_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
