/* SPDX-License-Identifier: MIT */
/* Frames of functions without CFI: the distance from SP to the return address, by their code. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frame of a function at an instruction. */
struct code_frame {
    bool is_known;         /* else SP was realigned, or the code is beyond the decoder */
    uint64_t return_bytes; /* from SP up to the return address */
    bool has_fp;           /* FP was set up: the return address lies fp_return_bytes above FP */
    uint64_t fp_return_bytes;
    bool saves_fp; /* the caller's FP lies saved_fp_return_bytes below the return address */
    uint64_t saved_fp_return_bytes;
    /* SP was realigned, and copied before: into a register, and maybe to the stack. */
    bool has_copy, saves_copy;
    uint8_t copy_register;      /* DWARF number */
    uint64_t copy_return_bytes; /* from the copied SP up to the return address */
    uint64_t saved_copy_bytes;  /* from SP up to the copy on the stack */
};

/* System V ABI, AMD64 supplement, figure 3.4: rbx, rbp, rsp, r12 to r15. */
static inline bool x86_64_is_callee_saved(uint32_t dwarf_number)
{
    return dwarf_number == 3 || dwarf_number == 6 || dwarf_number == 7 ||
           (dwarf_number >= 12 && dwarf_number <= 15);
}

/* bytes: from the start of the function up to the instruction. Follows the code in the order of
 * addresses: behind a return, or a jump, the frame is as before the epilogue. */
struct code_frame x86_64_frame_at(const uint8_t *bytes, size_t size);
