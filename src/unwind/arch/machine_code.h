/* SPDX-License-Identifier: MIT */
/*
 * Machine code of a machine, for code without CFI: calls, jumps, and the distance from SP to the
 * return address. Callers find the functions in the machine's row (machine.h); code of machines
 * without them is left to frame pointers. Calls of these machines push the return address.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow;

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

enum code_reference {
    REFERENCE_NONE,
    REFERENCE_CALL,    /* a direct call */
    REFERENCE_ADDRESS, /* moved into a register: a function, a label or data */
};

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

/* Of code generated at run time. */
enum code_fp {
    CODE_FP_UNKNOWN, /* no prologue */
    CODE_FP_SET,     /* FP is that of the function's frame */
    CODE_FP_FREE,    /* FP is the caller's, or holds any other value */
};

/* The frame of generated code with an aligned SP from its entry on. */
struct code_entry {
    uint64_t bytes;     /* below the return address, before SP is aligned; 0: no such entry */
    uint64_t alignment; /* a power of two */
};

/* The end of a function in the order of addresses. */
struct code_leave {
    enum { LEAVE_UNKNOWN, LEAVE_RETURNS, LEAVE_JUMPS } kind;
    uint64_t
        return_bytes; /* from SP up to the return address, or, of a jump in the function, less */
    uint64_t target_svma; /* of a jump to a fixed address; 0: another */
};

enum {
    CODE_CALL_BYTES_MAX = 7,    /* of a call, on any machine */
    CODE_CLEANUP_BYTES_MAX = 4, /* of an instruction that removes arguments */
};

#define CODE_NOT_ON_STACK (UINT64_C(1) << 62)

struct machine_code {
    uint64_t function_alignment; /* by compilers */
    size_t register_jump_bytes;  /* of the shortest jump through a register */

    /* The call instruction at the end of the bytes, at end_svma. Needs at least
     * CODE_CALL_BYTES_MAX bytes. */
    struct code_branch (*call_before)(const uint8_t *bytes, size_t size, uint64_t end_svma);
    /* The jump at the start of the bytes, behind an optional mark of jump targets: as in PLT stubs
     * and thunks. */
    struct code_branch (*jump_at)(const uint8_t *bytes, size_t size, uint64_t svma);
    /* Bytes of the instruction at the start of the bytes; 0: not decodable. */
    size_t (*instruction_bytes)(const uint8_t *bytes, size_t size);
    /* How the instruction refers to a function. */
    enum code_reference (*function_reference)(const uint8_t *bytes, size_t size, uint64_t svma,
                                              uint64_t *target_svma);
    /* Whether the instruction is an unconditional jump to a fixed address. */
    bool (*tail_jump)(const uint8_t *bytes, size_t size, uint64_t svma, uint64_t *target_svma);
    /* The next possible jump, from *at on: maybe a tail call. Moves *at behind; false: no jump. */
    bool (*next_jump)(const uint8_t *bytes, size_t size, size_t *at, uint64_t svma,
                      uint64_t *target_svma);
    /* Whether some bytes look like a jump through a register or memory: a tail call to anywhere. */
    bool (*has_indirect_jump)(const uint8_t *bytes, size_t size);
    /* Offset of the jump through a register or memory at the end of the first instructions, without
     * another jump, return or, unless calls are allowed, call before; 0: none. */
    size_t (*first_indirect_jump)(const uint8_t *bytes, size_t size, bool may_call);
    /* Whether the register_jump_bytes bytes are a jump through a register. */
    bool (*is_register_jump)(const uint8_t *bytes);
    /* Bytes of arguments that the instruction removes from the stack. */
    uint64_t (*cleanup_bytes)(const uint8_t *bytes, size_t size);
    /* Whether the code never returns: glibc's _start halts behind its call, musl's __clone exits
     * the thread, Boost's make_fcontext lets a fiber return to a call of _exit() before a halt. */
    bool (*ends_thread)(const uint8_t *bytes, size_t size);
    /* Whether the function given to makecontext() returns there: glibc's __start_context has no
     * CFI. */
    bool (*starts_context)(const uint8_t *bytes, size_t size);
    /* Whether the code returns from a signal handler: SP points at the ucontext then. */
    bool (*is_sigreturn)(const uint8_t *bytes, size_t size);
    /* Whether a function may start behind these bytes: they are padding, or end a function. */
    bool (*may_end_function)(const uint8_t *bytes, size_t size);
    /* As instruction_bytes(). *may_start: whether a function may start at the instruction; on
     * return, behind the instruction: a return, jump, call (maybe of a noreturn function), trap, or
     * padding behind such an instruction. */
    size_t (*pass_instruction)(const uint8_t *bytes, size_t size, bool *may_start);

    /* bytes: from the start of the function up to the instruction. Follows the code in the order of
     * addresses: behind a return, or a jump, the frame is as before the epilogue. */
    struct code_frame (*frame_at)(const uint8_t *bytes, size_t size);
    bool (*is_callee_saved)(uint32_t dwarf_number);
    /* Follows the function that starts at the byte. False: refused, and no state was changed. */
    bool (*flow_follow)(struct flow *flow, size_t start);

    /* By the last prologue in these bytes. */
    enum code_fp (*fp_before_end)(const uint8_t *bytes, size_t size);
    /* By the first one: V8 puts the prologue of a regular expression behind its code. */
    enum code_fp (*fp_from_start)(const uint8_t *bytes, size_t size);
    /* The first entry in these bytes with a large frame and a realigned SP. */
    struct code_entry (*realigning_entry)(const uint8_t *bytes, size_t size);
    /* bytes: from the instruction at svma on. Calls on another stack, between the load and the
     * restoration of SP, have no effect. */
    struct code_leave (*leave)(const uint8_t *bytes, size_t size, uint64_t svma);
    /* bytes: from the instruction on, in a function with frame pointers. True: FP is the caller's,
     * not set up yet or restored; *return_bytes: from SP up to the return address, or
     * CODE_NOT_ON_STACK. */
    bool (*has_callers_fp)(const uint8_t *bytes, size_t size, uint64_t *return_bytes);
};
