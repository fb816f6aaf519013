/* SPDX-License-Identifier: MIT */
/*
 * A call leaves the return address in lr (x30). The callee saves lr anywhere, mostly together with
 * the frame pointer in a frame record:
 *
 *     CFA                     the caller's SP
 *     …                       locals, callee-saved registers
 *     fp ─▶ caller's fp       frame record: link to the next,
 *           lr                and the return address, maybe signed in the upper bits
 */
#include "unwind/arch/machine.h"

#include "unwind/arch/aarch64_plt.h"

#include <elf.h>

static const int8_t registers[] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, /* x0 … x11 */
    13, -1, -1, -1, 14, 15, -1,                     /* x12 … x18; some have a CFA for a moment */
    0,  1,  2,  3,  4,  5,  8,  9,  10, 11,         /* x19 … x28 */
    6,  12, 7,                                      /* fp lr sp */
};

/* The same order, then pc. */
static const int8_t captured[] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, /* x0 … x11 */
    13, -1, -1, -1, 14, 15, -1,                     /* x12 … x18 */
    0,  1,  2,  3,  4,  5,  8,  9,  10, 11,         /* x19 … x28 */
    6,  12, 7,  16,                                 /* fp lr sp pc */
};

const struct unwind_machine unwind_aarch64 = {
    .elf_machine = EM_AARCH64,
    .registers = registers,
    .register_count = sizeof(registers),
    .captured = captured,
    .captured_count = sizeof(captured),
    .link = 12,
    .code_mask = (UINT64_C(1) << 48) - 1,
    .add_plt_cfi = aarch64_plt_add_cfi,
};
