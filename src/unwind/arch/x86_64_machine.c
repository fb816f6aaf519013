/* SPDX-License-Identifier: MIT */
#include "unwind/arch/machine.h"

#include "unwind/arch/x86_64_code.h"
#include "unwind/arch/x86_64_flow.h"
#include "unwind/arch/x86_64_frame.h"
#include "unwind/arch/x86_64_go_frames.h"
#include "unwind/arch/x86_64_prologue.h"

#include <elf.h>

static const int8_t captured[] = {
    0,  3,  2,  1,  4,  5,  /* ax bx cx dx si di */
    6,  7,  16,             /* bp sp ip */
    -1, -1, -1, -1, -1, -1, /* flags cs ss ds es fs */
    -1,                     /* gs */
    8,  9,  10, 11, 12, 13, 14, 15,
};

static const struct machine_code code = {
    .function_alignment = 16,
    .register_jump_bytes = 2,
    .call_before = x86_64_call_before,
    .jump_at = x86_64_jump_at,
    .instruction_bytes = x86_64_instruction_bytes,
    .function_reference = x86_64_function_reference,
    .tail_jump = x86_64_tail_jump,
    .next_jump = x86_64_next_jump,
    .has_indirect_jump = x86_64_has_indirect_jump,
    .first_indirect_jump = x86_64_first_indirect_jump,
    .is_register_jump = x86_64_is_register_jump,
    .cleanup_bytes = x86_64_cleanup_bytes,
    .ends_thread = x86_64_ends_thread,
    .starts_context = x86_64_starts_context,
    .is_sigreturn = x86_64_is_sigreturn,
    .may_end_function = x86_64_may_end_function,
    .pass_instruction = x86_64_pass_instruction,
    .frame_at = x86_64_frame_at,
    .is_callee_saved = x86_64_is_callee_saved,
    .flow_follow = x86_64_flow_follow,
    .fp_before_end = x86_64_fp_before_end,
    .fp_from_start = x86_64_fp_from_start,
    .realigning_entry = x86_64_realigning_entry,
    .leave = x86_64_leave,
    .has_callers_fp = x86_64_has_callers_fp,
};

const struct unwind_machine unwind_x86_64 = {
    .elf_machine = EM_X86_64,
    .captured = captured,
    .captured_count = sizeof(captured),
    .link = -1,
    .code_mask = UINT64_MAX,
    .code = &code,
    .make_go_cfi = x86_64_go_frames_cfi,
};
