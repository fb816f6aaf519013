/* SPDX-License-Identifier: MIT */
/*
 * Machine code of x86-64, see machine_code.h. Sources: Intel SDM volume 2, chapter 2 (lengths) and
 * appendix A.
 */
#pragma once

#include "unwind/arch/machine_code.h"

struct code_branch x86_64_call_before(const uint8_t *bytes, size_t size, uint64_t end_svma);
struct code_branch x86_64_jump_at(const uint8_t *bytes, size_t size, uint64_t svma);
size_t x86_64_instruction_bytes(const uint8_t *bytes, size_t size);
enum code_reference x86_64_function_reference(const uint8_t *bytes, size_t size, uint64_t svma,
                                              uint64_t *target_svma);
bool x86_64_tail_jump(const uint8_t *bytes, size_t size, uint64_t svma, uint64_t *target_svma);
bool x86_64_next_jump(const uint8_t *bytes, size_t size, size_t *at, uint64_t svma,
                      uint64_t *target_svma);
bool x86_64_has_indirect_jump(const uint8_t *bytes, size_t size);
size_t x86_64_first_indirect_jump(const uint8_t *bytes, size_t size, bool may_call);
bool x86_64_is_register_jump(const uint8_t *bytes);
uint64_t x86_64_cleanup_bytes(const uint8_t *bytes, size_t size);
bool x86_64_ends_thread(const uint8_t *bytes, size_t size);
bool x86_64_starts_context(const uint8_t *bytes, size_t size);
bool x86_64_is_sigreturn(const uint8_t *bytes, size_t size);
bool x86_64_may_end_function(const uint8_t *bytes, size_t size);
size_t x86_64_pass_instruction(const uint8_t *bytes, size_t size, bool *may_start);
