/* SPDX-License-Identifier: MIT */
/*
 * Machines of captured stacks, for offline unwinding on any machine.
 *
 * The evaluator has as many registers as x86-64, under x86-64's DWARF numbers (registers.h).
 * Callee-saved registers and CFA bases of other machines are mapped to these numbers; other
 * registers are not followed:
 *
 *     aarch64, DWARF   19…24   29 (fp)   31 (sp)   25…28   30 (lr)   12, 16, 17    pc
 *     here              0…5     6 (FP)    7 (SP)    8…11     12      13, 14, 15    16 (PC)
 */
#pragma once

#include "unwind/arch/machine_code.h"
#include "unwind/registers.h"

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct elf_file;

struct unwind_machine {
    uint16_t elf_machine;    /* EM_* */
    const int8_t *registers; /* by DWARF number; -1: not followed. NULL: as they are */
    uint8_t register_count;  /* number of entries */
    const int8_t *captured;  /* by bit of the kernel's perf_regs.h (64-bit ABI); -1: not followed */
    uint8_t captured_count;
    int8_t link;        /* the register with the return address after a call; -1: on the stack */
    uint64_t code_mask; /* address bits of a return address; the rest may be a signature */
    const struct machine_code *code; /* NULL: machine code is not read */
    /* Adds CFI for `.plt` to a .debug_frame, maybe empty. Out of memory: the buffer fails. NULL:
     * linkers write this CFI. */
    void (*add_plt_cfi)(struct buffer *debug_frame, const struct elf_file *elf);
    /* Fills an empty buffer with the records of a .debug_frame section. False: not a Go program, or
     * its table is unreadable; the buffer is empty. NULL: Go's tables are not read. */
    bool (*make_go_cfi)(struct buffer *debug_frame, const struct elf_file *elf);
};

extern const struct unwind_machine unwind_x86_64, unwind_aarch64;

/* NULL: an unsupported machine. */
const struct unwind_machine *unwind_machine_of_name(const char *name);
const struct unwind_machine *unwind_machine_of_elf(uint16_t elf_machine);
/* The machine that rec runs on. */
const struct unwind_machine *unwind_machine_own(void);

/* The number here of a DWARF register; UNWIND_DWARF_REGS: not followed. machine NULL: x86-64. */
uint64_t unwind_machine_register(const struct unwind_machine *machine, uint64_t dwarf_number);

/* Registers captured by the kernel with a sample. mask: a bit for each; values: in the order of the
 * bits. False: PC or SP is missing, so unwinding is impossible; regs has the others. */
bool unwind_machine_captured(const struct unwind_machine *machine, struct full_regs *regs,
                             uint64_t mask, const uint64_t *values);
