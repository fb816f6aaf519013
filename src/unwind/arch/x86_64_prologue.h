/* SPDX-License-Identifier: MIT */
/*
 * Whether a function of a JIT compiler keeps frame pointers, by the nearest prologue before an
 * address, or the nearest use of a local variable by FP. The start of the function is unknown, and
 * instructions cannot be decoded backwards, so the search is for bytes:
 *
 *     V8, HotSpot with the option, C    push %rbp; mov %rsp, %rbp
 *     .NET                              push %rbp; …; lea n(%rsp), %rbp
 *     HotSpot with the option, leaves   sub $n, %rsp; mov %rbp, m(%rsp); mov %rsp, %rbp; …
 *     SBCL                              pop 8(%rbp)
 *     V8's baseline code                none: a called function sets FP; but mov …, -n(%rbp)
 *     HotSpot                           push %rbp; sub $n, %rsp
 *     HotSpot, leaves; Graal            sub $n, %rsp; mov %rbp, m(%rsp)
 *
 * Sources: MacroAssembler::verified_entry() and C1_MacroAssembler::build_frame() of OpenJDK 17,
 * Assembler::EnterFrame() of V8 11, SBCL's xep-allocate-frame. The bytes were also read in running
 * processes, but of .NET and Graal.
 */
#pragma once

#include "unwind/arch/machine_code.h"

enum code_fp x86_64_fp_before_end(const uint8_t *bytes, size_t size);
enum code_fp x86_64_fp_from_start(const uint8_t *bytes, size_t size);
/* sub $n, %rsp; and $-alignment, %rsp. */
struct code_entry x86_64_realigning_entry(const uint8_t *bytes, size_t size);
