/* SPDX-License-Identifier: MIT */
/* Frames of functions without CFI: the distance from SP to the return address, by their code. */
#pragma once

#include "unwind/arch/machine_code.h"

/* System V ABI, AMD64 supplement, figure 3.4: rbx, rbp, rsp, r12 to r15. */
bool x86_64_is_callee_saved(uint32_t dwarf_number);

struct code_frame x86_64_frame_at(const uint8_t *bytes, size_t size);

/*
 * The way from an instruction to the end of the function, for generated code with an unknown start:
 * SP moves by the same number of bytes on all ways, so the first return or jump in the order of
 * addresses states the distance to the return address:
 *
 *     PC ─▶ mov (%rsp), %rsi
 *           add $8, %rsp          8 bytes
 *           dec %r14
 *           jl …
 *           ret                   the return address is at SP + 8
 */
struct code_leave x86_64_leave(const uint8_t *bytes, size_t size, uint64_t svma);

/*
 * The instructions of a function with frame pointers where FP is the caller's:
 *
 *     PC ─▶ push %rbp           the return address is at SP
 *     PC ─▶ mov %rsp, %rbp      at SP + 8
 *           …                   at FP + 8
 *           pop %rbp
 *     PC ─▶ ret                 at SP
 *
 * From the instruction on, the function either sets FP up, or returns without a change of FP. Where
 * lea sets FP up, behind further pushes, FP also points to the saved one.
 */
bool x86_64_has_callers_fp(const uint8_t *bytes, size_t size, uint64_t *return_bytes);
