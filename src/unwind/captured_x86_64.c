/* SPDX-License-Identifier: MIT */
#include "unwind/captured.h"

const char captured_machine[] = "x86_64";

/* By bit of the mask: the DWARF number; -1 where DWARF needs none (flags, segments). */
static const int8_t dwarf_numbers[] = {
    0,  3,  2,  1,  4,  5,  /* ax bx cx dx si di */
    6,  7,  16,             /* bp sp ip */
    -1, -1, -1, -1, -1, -1, /* flags cs ss ds es fs */
    -1,                     /* gs */
    8,  9,  10, 11, 12, 13, 14, 15,
};

bool captured_regs(struct full_regs *regs, uint64_t mask, const uint64_t *values)
{
    *regs = (struct full_regs){0};
    for (size_t bit = 0; bit < sizeof(dwarf_numbers); bit++) {
        if (!(mask >> bit & 1))
            continue;
        uint64_t value = *values++;
        if (dwarf_numbers[bit] < 0)
            continue;
        regs->value[dwarf_numbers[bit]] = value;
        regs->known |= 1u << dwarf_numbers[bit];
    }
    const uint32_t needed = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP;
    return (regs->known & needed) == needed;
}
