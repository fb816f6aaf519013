/* SPDX-License-Identifier: MIT */
#pragma once

#include <elf.h>
#include <linux/audit.h>
#include <stdint.h>

#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_AUDIT AUDIT_ARCH_X86_64
/* The machine's folder of libraries on Debian. */
#define ARCH_LIBRARIES "x86_64-linux-gnu"

/* The end of user addresses (Linux Documentation/arch/x86/x86_64/mm.rst). With 5 levels of page
 * tables a program gets higher addresses only after passing such a hint to mmap()
 * (5level-paging.rst): frames there are refused. */
#define ARCH_ADDRESS_BITS 47

/* Bits of the kernel's asm/perf_regs.h: AX to IP, and R8 to R15. */
#define ARCH_PERF_REGISTERS UINT64_C(0xff01ff)

/* SA_RESTORER, set by the C library in each action; the kernel keeps the flag. */
#define ARCH_SA_RESTORER 0x04000000

/* A clock without a system call; the launcher converts the unit. Async-signal-safe. */
static inline uint64_t arch_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
