/* SPDX-License-Identifier: MIT */
#include "unwind/arch/machine.h"

#include <elf.h>

static const int8_t captured[] = {
    0,  3,  2,  1,  4,  5,  /* ax bx cx dx si di */
    6,  7,  16,             /* bp sp ip */
    -1, -1, -1, -1, -1, -1, /* flags cs ss ds es fs */
    -1,                     /* gs */
    8,  9,  10, 11, 12, 13, 14, 15,
};

const struct unwind_machine unwind_x86_64 = {
    .name = "x86_64",
    .elf_machine = EM_X86_64,
    .captured = captured,
    .captured_count = sizeof(captured),
    .link = -1,
    .code_mask = UINT64_MAX,
};
