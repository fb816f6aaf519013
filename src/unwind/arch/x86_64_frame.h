/* SPDX-License-Identifier: MIT */
/* Frames of functions without CFI: the distance from SP to the return address, by their code. */
#pragma once

#include "unwind/arch/machine_code.h"

/* System V ABI, AMD64 supplement, figure 3.4: rbx, rbp, rsp, r12 to r15. */
bool x86_64_is_callee_saved(uint32_t dwarf_number);

struct code_frame x86_64_frame_at(const uint8_t *bytes, size_t size);
