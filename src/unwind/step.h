/* SPDX-License-Identifier: MIT */
/*
 * Shared by sampler and launcher: finding the row of a PC, and applying the row. Finding is
 * separate from applying, so that both are testable alone and the sampler can cache rules.
 *
 * No allocation, locks, libc calls, or access to memory outside of the arguments.
 * Every function is async-signal-safe.
 *
 * Return addresses differ from instruction pointers: the PC of the innermost frame, and of a frame
 * interrupted by a signal, is the next instruction to run. All other PCs are return addresses,
 * which point behind the call, maybe already into another function or another row.
 * unwind_lookup_pc() is the only place with this knowledge.
 */
#pragma once

#include "wire/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows of a module, in untrusted memory: a malformed index gives ROW_NONE. */
struct row_table {
    const struct row *rows; /* all shared rows */
    uint64_t row_count;
    const uint64_t *buckets; /* of the module's index */
    uint32_t bucket_count, bucket_shift;
};

struct unwind_regs {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
};

/* The readable part of a stack: addresses [lo, hi) of the target, with the bytes at `bytes` (in the
 * target lo itself; in the launcher a copy, maybe with a hole). */
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

/* The PC to look up for a frame: the address itself, or less one for return addresses.
 * Async-signal-safe. */
static inline uint64_t unwind_lookup_pc(uint64_t pc, bool is_return_address)
{
    return is_return_address && pc ? pc - 1 : pc;
}

/* The module with pc in [start_avma, end_avma), or NULL; modules are sorted and disjoint.
 * Async-signal-safe. */
const struct wire_module *unwind_find_module(const struct wire_module *modules, size_t count,
                                             uint64_t pc);

/* The rule of the last row at or below `relative` (an svma less base_svma); ROW_NONE: no such row.
 * Async-signal-safe. */
uint32_t unwind_find_rule(const struct row *rows, size_t count, uint32_t relative);

/* The same by a module's index; false: rows not compiled yet. Async-signal-safe. */
bool unwind_find_in_table(const struct row_table *table, uint32_t relative, uint32_t *rule);

/* Applies a rule of any kind to regs. SP always grows, except out of signal frames: the handler
 * may have run on another stack: the caller's SP may be outside of the view then. ROW_NONE gives
 * UNWIND_NO_ROW; ROW_REGISTER, ROW_CLONE and ROW_COMPLEX give UNWIND_COMPLEX. Async-signal-safe. */
enum unwind_result unwind_apply(uint32_t rule, struct unwind_regs *regs,
                                const struct stack_view *stack);

/* Applies a rule of kind ROW_REGISTER or ROW_CLONE with the value of the register.
 * Async-signal-safe. */
enum unwind_result unwind_apply_register(uint32_t rule, uint64_t value, struct unwind_regs *regs,
                                         const struct stack_view *stack);

/* A step by frame pointer: FP aligned, inside of the view and not below SP. The caller must check
 * that the new PC is executable. Async-signal-safe. */
enum unwind_result unwind_frame_pointer(struct unwind_regs *regs, const struct stack_view *stack);
