/* SPDX-License-Identifier: MIT */
/*
 * The files of an architecture:
 *
 *     x86_64_step.c      applies rules to registers (declared in step.h); also part of the sampler
 *     x86_64_rules.c     launcher only: maps CFI to rules (declared below)
 *     x86_64_machine.c   launcher only: registers, for captures of any machine (machine.h)
 */
#pragma once

#include "unwind/cfi/cfi.h"
#include "unwind/registers.h"
#include "wire/rows.h"

#include <stdint.h>
#include <sys/user.h>

/* The rule equivalent to the CFI row; ROW_COMPLEX: none. */
uint32_t arch_rule(const struct cfi_cie *cie, const struct cfi_row *row);

/* The rule around the system call of clone(), from the rule of the instructions before; ROW_NONE:
 * none. */
uint32_t arch_clone_rule(uint32_t before);

/* All registers of a thread, as ptrace and core files have these. */
struct full_regs arch_full_regs(const struct user_regs_struct *user);
