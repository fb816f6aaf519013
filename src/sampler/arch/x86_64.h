/* SPDX-License-Identifier: MIT */
/* All processor-specific parts of the sampler: system calls and the interrupted
 * registers in the signal frame. A port is another file with the same functions.
 * Async-signal-safe throughout. */
#pragma once

#include "arch/own.h"
#include "unwind/step.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The ABI's red zone below SP: live values of leaf functions and, in epilogues, frames still
 * described by the CFI. */
#define ARCH_RED_ZONE 128

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

/* Inline assembly: the compiler would emit a call of memcpy(). Async-signal-safe. */
static inline void arch_copy(void *to, const void *from, uint64_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static inline void arch_zero(void *memory, uint64_t bytes)
{
    __asm__ volatile("rep stosb" : "+D"(memory), "+c"(bytes) : "a"(0) : "memory");
}

/* The registers that a walk from here needs: PC, SP and the callee-saved registers. Inlined: the
 * frame is the caller's. Async-signal-safe. */
__attribute__((always_inline)) static inline void arch_capture(ucontext_t *context)
{
    greg_t *to = context->uc_mcontext.gregs;
    __asm__ volatile("lea 0(%%rip), %%rax\n\t"
                     "mov %%rax, %c1(%0)\n\t"
                     "mov %%rsp, %c2(%0)\n\t"
                     "mov %%rbp, %c3(%0)\n\t"
                     "mov %%rbx, %c4(%0)\n\t"
                     "mov %%r12, %c5(%0)\n\t"
                     "mov %%r13, %c6(%0)\n\t"
                     "mov %%r14, %c7(%0)\n\t"
                     "mov %%r15, %c8(%0)"
                     :
                     : "r"(to), "i"(8 * REG_RIP), "i"(8 * REG_RSP), "i"(8 * REG_RBP),
                       "i"(8 * REG_RBX), "i"(8 * REG_R12), "i"(8 * REG_R13), "i"(8 * REG_R14),
                       "i"(8 * REG_R15)
                     : "rax", "memory");
    context->uc_stack.ss_size = 0; /* no alternate stack is known */
    context->uc_stack.ss_flags = SS_DISABLE;
    context->uc_stack.ss_sp = NULL;
}

static inline struct unwind_regs arch_unwind_regs(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    return (struct unwind_regs){.pc = (uint64_t)registers[REG_RIP],
                                .sp = (uint64_t)registers[REG_RSP],
                                .fp = (uint64_t)registers[REG_RBP]};
}

/* The interrupted value of a register by its DWARF number (0 to 16). Async-signal-safe. */
static inline uint64_t arch_dwarf_register(const ucontext_t *context, uint32_t number)
{
    static const uint8_t order[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                      REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    return (uint64_t)context->uc_mcontext.gregs[order[number]];
}

/* All registers; returns a bit for each valid one. Async-signal-safe. */
static inline uint32_t arch_dwarf_registers(const ucontext_t *context, uint64_t registers[17])
{
    for (uint32_t i = 0; i < 17; i++)
        registers[i] = arch_dwarf_register(context, i);
    return 0x1ffff;
}

/* rbx, rbp, rsp, r12 to r15: saved and changed by callees. Async-signal-safe. */
static inline bool arch_is_callee_saved(uint32_t dwarf_number)
{
    return dwarf_number == 3 || dwarf_number == 6 || dwarf_number == 7 || dwarf_number >= 12;
}

enum { ARCH_DWARF_FP = 6, ARCH_DWARF_SP = 7, ARCH_DWARF_PC = 16 };

/* True for a thread at the end of a system call: the instruction leaves PC in rcx and the flags
 * in r11, as nothing else does. Async-signal-safe. */
static inline bool arch_leaves_syscall(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    return registers[REG_RCX] == registers[REG_RIP] && registers[REG_R11] == registers[REG_EFL];
}
