/* SPDX-License-Identifier: MIT */
/*
 * All of the sampler that knows the processor: system calls, the clock, and where the kernel leaves the
 * interrupted registers. A port is another file with the same functions. Async-signal-safe throughout.
 */
#pragma once

#include <linux/audit.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Below SP by the ABI's red zone live values of leaf functions and, in epilogues, frames that the CFI
 * still speaks of. */
#define ARCH_RED_ZONE 128

#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_AUDIT AUDIT_ARCH_X86_64

static inline long raw_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* A clock that needs no system call; the launcher converts it. Async-signal-safe. */
static inline uint64_t arch_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* The compiler must not make a call to memcpy of it. Async-signal-safe. */
static inline void arch_copy(void *to, const void *from, uint64_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static inline uint64_t arch_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t arch_sp(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline uint64_t arch_fp(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RBP];
}

/* The interrupted value of a register by its DWARF number (0 to 16). Async-signal-safe. */
static inline uint64_t arch_dwarf_register(const ucontext_t *context, uint32_t number)
{
    static const uint8_t order[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                      REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    return (uint64_t)context->uc_mcontext.gregs[order[number]];
}

/* All of them; returns which are known. Async-signal-safe. */
static inline uint32_t arch_dwarf_registers(const ucontext_t *context, uint64_t registers[17])
{
    for (uint32_t i = 0; i < 17; i++)
        registers[i] = arch_dwarf_register(context, i);
    return 0x1ffff;
}

/* rbx, rbp, rsp, r12 to r15: a callee may have saved it and use it. Async-signal-safe. */
static inline bool arch_is_callee_saved(uint32_t dwarf_number)
{
    return dwarf_number == 3 || dwarf_number == 6 || dwarf_number == 7 || dwarf_number >= 12;
}

enum { ARCH_DWARF_FP = 6, ARCH_DWARF_SP = 7, ARCH_DWARF_PC = 16 };

/* True when the thread was on its way out of a system call: the instruction leaves PC in rcx and the
 * flags in r11, which nothing else does. Async-signal-safe. */
static inline bool arch_leaves_syscall(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    return registers[REG_RCX] == registers[REG_RIP] && registers[REG_R11] == registers[REG_EFL];
}

/* After a signal whose handler has SA_RESTART the kernel goes back to the instruction, which is two bytes long. What
 * the call was, or -1: the thread was in none that begins again. Async-signal-safe. */
static inline long arch_restarted_syscall(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    bool goes_back =
        registers[REG_RCX] == registers[REG_RIP] + 2 && registers[REG_R11] == registers[REG_EFL];
    return goes_back ? (long)registers[REG_RAX] : -1;
}

/* Its second argument. Async-signal-safe. */
static inline uint64_t arch_syscall_second(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSI];
}

/* It does not begin again, but has returned this. Async-signal-safe. */
static inline void arch_end_syscall(ucontext_t *context, long result)
{
    context->uc_mcontext.gregs[REG_RIP] += 2;
    context->uc_mcontext.gregs[REG_RAX] = result;
}
