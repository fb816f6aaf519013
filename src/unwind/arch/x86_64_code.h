/* SPDX-License-Identifier: MIT */
/*
 * Machine code of x86-64, as needed for caller search: calls, jumps, and the distance from SP to
 * the return address. Sources: Intel SDM volume 2, chapter 2 (lengths) and appendix A.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_branch_kind {
    BRANCH_NONE,
    BRANCH_DIRECT,   /* to a fixed address */
    BRANCH_SLOT,     /* to the address in a fixed word of memory: a PLT stub, or -fno-plt */
    BRANCH_INDIRECT, /* through a register, or memory relative to a register */
};

struct code_branch {
    enum code_branch_kind kind;
    uint64_t svma; /* of the target, or of the slot */
};

enum { CODE_CALL_BYTES_MAX = 7, CODE_ALIGNMENT = 16 };

/* The call instruction at the end of the bytes, at end_svma. Needs at least CODE_CALL_BYTES_MAX
 * bytes. */
struct code_branch x86_64_call_before(const uint8_t *bytes, size_t size, uint64_t end_svma);

/* The jump at the start of the bytes, behind an optional endbr64: as in PLT stubs and thunks. */
struct code_branch x86_64_jump_at(const uint8_t *bytes, size_t size, uint64_t svma);

/* Bytes of the instruction at the start of the bytes; 0: not decodable. */
size_t x86_64_instruction_bytes(const uint8_t *bytes, size_t size);

enum code_reference {
    REFERENCE_NONE,
    REFERENCE_CALL,    /* a direct call */
    REFERENCE_ADDRESS, /* moved into a register: a function, a label or data */
};

/* How the instruction refers to a function. */
enum code_reference x86_64_function_reference(const uint8_t *bytes, size_t size, uint64_t svma,
                                              uint64_t *target_svma);

/* The next possible jump, from *at on: maybe a tail call. Moves *at behind; false: no jump. */
bool x86_64_next_jump(const uint8_t *bytes, size_t size, size_t *at, uint64_t svma,
                      uint64_t *target_svma);

/* Whether some bytes look like a jump through a register or memory: a tail call to anywhere. */
bool x86_64_has_indirect_jump(const uint8_t *bytes, size_t size);

/* Offset of the jump through a register or memory at the end of the first instructions, without
 * another jump, call or return before; 0: none. */
size_t x86_64_first_indirect_jump(const uint8_t *bytes, size_t size);

/* Whether the code never returns: glibc's _start halts behind its call, musl's __clone exits the
 * thread, Boost's make_fcontext lets a fiber return to a call of _exit() before a halt. */
bool x86_64_ends_thread(const uint8_t *bytes, size_t size);

/* Whether the function given to makecontext() returns there: glibc's __start_context has no CFI. */
bool x86_64_starts_context(const uint8_t *bytes, size_t size);

/* Whether the code returns from a signal handler: SP points at the ucontext then. */
bool x86_64_is_sigreturn(const uint8_t *bytes, size_t size);

/* Whether a function may start behind these bytes: they are padding, or end a function. */
bool x86_64_may_end_function(const uint8_t *bytes, size_t size);

/* Whether a function may start behind the instruction: it returns, jumps, calls (maybe a function
 * that never returns), traps, or is padding behind such an instruction. */
bool x86_64_may_precede_function(const uint8_t *bytes, size_t size, bool is_behind_such);
