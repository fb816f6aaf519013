/* SPDX-License-Identifier: MIT */
/*
 * The truth about the callers of a program that runs one instruction at a time: each executed call
 * pushed a return address, so a shadow stack of these calls holds, at any instruction, the callers
 * and the SP and FP that they will have again.
 *
 *     executed call  ──▶ push { return address, SP before the call = CFA, FP before the call }
 *     SP at or above the CFA of the newest entry ──▶ it has returned, or was jumped out of: pop
 *     a signal was delivered ──▶ push { interrupted PC, SP, FP }, then the handler's own entry
 *
 * Nothing of that reads CFI or the stack's other words.
 */
#pragma once

#include "tracee.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SHADOW_MAX = 4096, RED_ZONE = 128 };

struct shadow_entry {
    struct unwind_regs caller;
    bool fp_is_known;
};

struct shadow {
    struct shadow_entry entries[SHADOW_MAX];
    size_t depth;
};

static inline bool shadow_is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
           (byte >= 0x40 && byte <= 0x4f);
}

/* call rel32, or call through a register or memory. */
static inline bool shadow_is_call(const uint8_t *code)
{
    int i = 0;
    while (i < 8 && shadow_is_prefix(code[i]))
        i++;
    return code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
}

static inline void shadow_push(struct shadow *shadow, struct unwind_regs caller, bool fp_is_known)
{
    assert_true(shadow->depth < SHADOW_MAX);
    shadow->entries[shadow->depth++] = (struct shadow_entry){caller, fp_is_known};
}

/* The effect of the instruction at `before`. True: a call was executed. */
static inline bool shadow_follow(struct shadow *shadow, const struct tracee *tracee,
                                 const struct full_regs *before, const struct full_regs *after)
{
    uint64_t sp = after->value[UNWIND_DWARF_SP], old_sp = before->value[UNWIND_DWARF_SP];
    uint64_t pc = before->value[UNWIND_DWARF_PC], return_pc;
    uint8_t code[16] = {0};
    while (shadow->depth > 0 && shadow->entries[shadow->depth - 1].caller.sp <= sp)
        shadow->depth--;
    if (sp != old_sp - 8 || !tracee_read(tracee, pc, code, sizeof(code)) || !shadow_is_call(code) ||
        !tracee_read(tracee, sp, &return_pc, sizeof(return_pc)))
        return false;
    assert_true(return_pc > pc && return_pc - pc <= 15);
    shadow_push(shadow, (struct unwind_regs){return_pc, old_sp, before->value[UNWIND_DWARF_FP]},
                true);
    return true;
}

/* The handler returns to the restorer, the restorer to the interrupted instruction. */
static inline void shadow_follow_signal(struct shadow *shadow, const struct tracee *tracee,
                                        const struct full_regs *interrupted,
                                        const struct full_regs *handler)
{
    uint64_t restorer, sp = handler->value[UNWIND_DWARF_SP];
    shadow_push(shadow,
                (struct unwind_regs){interrupted->value[UNWIND_DWARF_PC],
                                     interrupted->value[UNWIND_DWARF_SP],
                                     interrupted->value[UNWIND_DWARF_FP]},
                true);
    assert_true(tracee_read(tracee, sp, &restorer, sizeof(restorer)));
    shadow_push(shadow, (struct unwind_regs){restorer, sp + 8, 0},
                false); /* the kernel does not promise any */
}

/* Room for the stack bytes of a tracee. */
struct stack_bytes {
    uint8_t *bytes;
    size_t capacity;
};

/* [SP - red zone, SP + size) of the target, as far as the stack reaches. */
static inline struct stack_view read_stack(const struct tracee *tracee, struct stack_bytes *room,
                                           uint64_t sp, size_t size)
{
    uint64_t lo = sp - RED_ZONE;
    if (tracee->stack_hi > sp && tracee->stack_hi - sp < size)
        size = tracee->stack_hi - sp;
    size += RED_ZONE;
    if (size > room->capacity) {
        room->bytes = realloc(room->bytes, size);
        assert_non_null(room->bytes);
        room->capacity = size;
    }
    /* Right behind a large `sub`, SP points below what the kernel has grown the stack to so far. */
    for (size_t page = 4096 - lo % 4096; !tracee_read(tracee, lo, room->bytes, size); page = 4096) {
        if (size <= page)
            return (struct stack_view){lo, lo, room->bytes, NULL};
        lo += page;
        size -= page;
    }
    return (struct stack_view){lo, lo + size, room->bytes, NULL};
}
