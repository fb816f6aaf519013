/* SPDX-License-Identifier: MIT */
/*
 * What an architecture provides. A port is another pair of files:
 *
 *     arch_x86_64.c      in the sampler too: applies rules to registers (the last two of step.h)
 *     arch_cfi_x86_64.c  launcher only: which CFI fits a rule (below)
 */
#pragma once

#include "unwind/cfi.h"
#include "wire/rows.h"

#include <stdint.h>

/* EM_* of the ELF files whose CFI this is. */
extern const uint16_t arch_elf_machine;

/* The rule that does what the CFI row says, ROW_COMPLEX when none does. */
uint32_t arch_rule(const struct cfi_cie *cie, const struct cfi_row *row);

/* The rule around the system call of clone(), given that of the instructions before; ROW_NONE when
 * there is none. */
uint32_t arch_clone_rule(uint32_t before);
