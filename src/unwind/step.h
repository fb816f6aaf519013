/* SPDX-License-Identifier: MIT */
/*
 * Shared by the sampler and the launcher: find the row of a PC, and apply it. Finding is separate from
 * applying, so that either is testable alone and the sampler can cache what it found.
 *
 * Nothing here allocates, locks, calls libc or touches memory outside its arguments.
 * Every function is async-signal-safe.
 *
 * Return addresses and instruction pointers are different things: the PC of the innermost frame, and of
 * a frame that a signal interrupted, is the next instruction to run; every other PC is a return address
 * and points behind the call, which may already be another function or another row. unwind_lookup_pc()
 * is the one place that knows.
 */
#pragma once

#include "wire/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows of a module, in memory that may be anything: an index that makes no sense finds ROW_NONE. */
struct row_table {
    const struct row *rows; /* all that are shared */
    uint64_t row_count;
    const uint64_t *buckets; /* of the module's index */
    uint32_t bucket_count, bucket_shift;
};

struct unwind_regs {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
};

/* The part of a stack that may be read: addresses [lo, hi) of the target, whose bytes lie at `bytes`
 * (in the target that is lo itself, in the launcher a copy, which may have a hole). */
struct stack_view {
    uint64_t lo;
    uint64_t hi;
    const uint8_t *bytes;
    const struct stack_view *beyond; /* the hole; NULL: there is none */
};

enum unwind_result {
    UNWIND_OK,        /* regs are the caller's */
    UNWIND_END,       /* this was the outermost frame; regs unchanged */
    UNWIND_COMPLEX,   /* the rule does not fit a row; regs unchanged */
    UNWIND_NO_ROW,    /* no CFI covers the PC; regs unchanged */
    UNWIND_OFF_STACK, /* the rule points outside the view, or SP would not grow; regs unchanged */
};

/* True and the word at avma, if all eight bytes lie in the view. Async-signal-safe. */
static inline bool stack_load(const struct stack_view *stack, uint64_t avma, uint64_t *word)
{
    while (stack && (avma < stack->lo || avma >= stack->hi || stack->hi - avma < sizeof(*word)))
        stack = stack->beyond;
    if (!stack)
        return false;
    __builtin_memcpy(word, stack->bytes + (avma - stack->lo), sizeof(*word));
    return true;
}

/* The PC to look up for a frame: the address itself, or one less for return addresses. Async-signal-safe. */
static inline uint64_t unwind_lookup_pc(uint64_t pc, bool is_return_address)
{
    return is_return_address && pc ? pc - 1 : pc;
}

/* The module whose [start_avma, end_avma) holds pc, or NULL; modules are sorted and do not overlap.
 * Async-signal-safe. */
const struct wire_module *unwind_find_module(const struct wire_module *modules, size_t count,
                                             uint64_t pc);

/* The rule of the last row that starts at or before `relative` (an svma less base_svma); a rule of kind
 * ROW_NONE when there is none. Async-signal-safe. */
uint32_t unwind_find_rule(const struct row *rows, size_t count, uint32_t relative);

/* The same by a module's index; false: the rows of that code are not compiled yet. Async-signal-safe. */
bool unwind_find_in_table(const struct row_table *table, uint32_t relative, uint32_t *rule);

/* Applies a rule of any kind to regs. SP always grows, except out of signal frames, whose handler may
 * have run on another stack: the caller's SP may then lie outside the view. ROW_NONE gives UNWIND_NO_ROW,
 * ROW_REGISTER and ROW_CLONE like ROW_COMPLEX UNWIND_COMPLEX. Async-signal-safe. */
enum unwind_result unwind_apply(uint32_t rule, struct unwind_regs *regs,
                                const struct stack_view *stack);

/* Applies a rule of kind ROW_REGISTER or ROW_CLONE, given the value of its register.
 * Async-signal-safe. */
enum unwind_result unwind_apply_register(uint32_t rule, uint64_t value, struct unwind_regs *regs,
                                         const struct stack_view *stack);

/* One step by frame pointer: FP aligned, inside the view and not below SP. The caller must still check
 * that the new PC lies in executable memory. Async-signal-safe. */
enum unwind_result unwind_frame_pointer(struct unwind_regs *regs, const struct stack_view *stack);
