/* SPDX-License-Identifier: MIT */
/*
 * Rows first: rows need only PC, SP and FP, and are fast. The rules of a complex frame may need any
 * register, so the frames since the last full set of registers are stepped again with the full
 * evaluator, which follows all registers:
 *
 *     frame    0      1      2      3 (complex)   4      5
 *     rows     ──────▶──────▶──────▶              ──────▶──────▶
 *     full     ═══════▶══════▶══════▶══════════════▶
 */
#include "unwind/offline_step.h"

#include "unwind/arch/arch.h"
#include "unwind/module.h"
#include "unwind/generated/entered_code.h"
#include "unwind/generated/outside_frame.h"
#include "unwind/generated/tagged_stack.h"
#include "unwind/offline_fp.h"

enum {
    PLACES_MOST = 1 << 15,
    FRAME_BYTES_MAX = 1 << 20, /* of one frame */
};

/* Frame pointers give the caller's SP only where the frame record lies at the CFA, as on x86-64.
 * Elsewhere only frame pointers lead on. */
static bool keeps_sp(const struct offline_walk *walk)
{
    return !walk->map->machine || !walk->map->machine->registers;
}

static uint64_t code_address(const struct offline_walk *walk, uint64_t pc)
{
    return walk->map->machine ? pc & walk->map->machine->code_mask : pc;
}

/* Rules have 32-bit addresses relative to the module: code beyond 4 GiB has none. */
static struct offline_place place_of(const struct offline_mapping *mapping,
                                     struct two_way_cache_key key)
{
    struct offline_place place = {.key = key,
                                  .module = mapping->module,
                                  .bias = mapping->bias,
                                  .rule = row_rule(ROW_NONE, ROW_FP_SAME, 0)};
    uint64_t relative =
        place.module ? key.avma - place.bias - unwind_module_base_svma(place.module) : UINT64_MAX;
    if (relative <= UINT32_MAX)
        place.rule = unwind_module_rule(place.module, (uint32_t)relative);
    return place;
}

static void remember(const struct offline_map *map, const struct offline_place *place)
{
    struct offline_place *made =
        two_way_cache_add(map->cache, sizeof(*made), PLACES_MOST, place->key);
    if (made)
        *made = *place;
}

bool offline_find_place(const struct offline_walk *walk, uint64_t pc, struct offline_place *place)
{
    const struct offline_map *map = walk->map;
    const struct two_way_cache_key key = {map->generation, pc};
    const struct offline_place *known =
        map->cache ? two_way_cache_find(map->cache, sizeof(*known), key) : NULL;
    if (known) {
        *place = *known;
        return true;
    }
    struct offline_mapping mapping;
    if (!map->find(map->context, pc, &mapping))
        return false;
    *place = place_of(&mapping, key);
    if (map->cache)
        remember(map, place);
    return true;
}

static bool is_mapped(const struct offline_walk *walk, uint64_t return_pc)
{
    struct offline_place place;
    return offline_find_place(walk, unwind_lookup_pc(return_pc, true), &place);
}

struct stack_frame offline_frame_of(const struct full_regs *full, bool is_return_address)
{
    bool has_fp = full->known >> UNWIND_DWARF_FP & 1;
    return (struct stack_frame){
        .regs = {.pc = full->value[UNWIND_DWARF_PC],
                 .sp = full->value[UNWIND_DWARF_SP],
                 .fp = has_fp ? full->value[UNWIND_DWARF_FP] : 0},
        .is_return_address = is_return_address,
        .fp_is_known = has_fp,
        .all = full,
    };
}

/* The registers that rows follow; all others are unknown. */
static struct full_regs widen(const struct stack_frame *frame)
{
    struct full_regs full = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP |
                                      (uint32_t)frame->fp_is_known << UNWIND_DWARF_FP};
    full.value[UNWIND_DWARF_PC] = frame->regs.pc;
    full.value[UNWIND_DWARF_SP] = frame->regs.sp;
    full.value[UNWIND_DWARF_FP] = frame->regs.fp;
    return full;
}

/* The way from an alternate signal stack to the interrupted function is no start of a stack. */
static struct code_map code_of(const struct offline_walk *walk)
{
    struct code_map code = *walk->map->code;
    code.is_made_stack &= !walk->is_interrupted;
    return code;
}

static struct caller search_caller(const struct offline_walk *walk, const struct stack_frame *frame)
{
    if (!walk->map->code || !keeps_sp(walk))
        return (struct caller){.evidence = CALLER_NONE};
    const struct code_map code = code_of(walk);
    return caller_search(&code, frame, walk->stack);
}

/* FP as the base of the CFA, or as the address of the saved FP. */
static bool needs_fp(uint32_t rule)
{
    enum row_kind kind = row_kind(rule);
    return kind == ROW_FP || kind == ROW_FP_DEREF || row_fp(rule) == ROW_FP_AT_FP;
}

static bool infer_fp(struct offline_walk *walk, uint32_t rule, struct stack_frame *frame)
{
    if (!walk->map->code || !keeps_sp(walk))
        return false;
    frame->fp_is_known = offline_infer_fp(walk->map, walk->stack, rule, frame);
    walk->inferred_fps += frame->fp_is_known;
    return frame->fp_is_known;
}

/* Whether a chain of frame records leads out of the bytes of the stack. */
static bool is_chain_cut(const struct offline_walk *walk, const struct stack_frame *frame)
{
    const uint64_t fp = frame->regs.fp, hi = walk->stack->hi;
    return frame->is_return_address && fp % 8 == 0 && fp >= hi && fp - hi < FRAME_BYTES_MAX;
}

/* The first frame of a stack made by the program, in JIT code, reached by a frame record with an FP
 * of 0 (System V ABI for x86-64, 3.4.1). Code of files may use FP for other values. */
static bool is_end_of_chain(const struct offline_walk *walk, const struct stack_frame *frame)
{
    const struct code_map *code = walk->map->code;
    struct code_place place;
    return walk->chain_end_sp == frame->regs.sp && frame->regs.fp == 0 && code &&
           code_of(walk).is_made_stack && code->find(code->context, frame->regs.pc - 1, &place) &&
           !place.image;
}

/* A step by frame pointer alone: a guess, so the caller must be code. */
static enum unwind_result step_by_frame_pointer(struct offline_walk *walk,
                                                struct stack_frame *frame)
{
    struct unwind_regs caller = frame->regs;
    if (!frame->fp_is_known)
        return UNWIND_NO_ROW;
    if (is_end_of_chain(walk, frame)) {
        frame->regs.pc++; /* put there by the program: no call precedes the address */
        walk->evidence = CALLER_IS_ROOT;
        return UNWIND_END;
    }
    if (unwind_frame_pointer(&caller, walk->stack) != UNWIND_OK)
        return is_chain_cut(walk, frame) ? UNWIND_OFF_STACK : UNWIND_NO_ROW;
    caller.pc = code_address(walk, caller.pc);
    walk->leads_nowhere = !is_mapped(walk, caller.pc);
    if (walk->leads_nowhere)
        return UNWIND_NO_ROW;
    frame->regs = caller;
    frame->all = frame->all_inside = NULL;
    walk->chain_end_sp = caller.fp == 0 ? caller.sp : 0;
    walk->has_lost_sp = !keeps_sp(walk);
    return UNWIND_OK;
}

typedef struct caller caller_search_in(const struct code_map *map, const struct stack_frame *callee,
                                       const struct stack_view *stack);

/* Out of generated code, and of code entered by a jump. UNWIND_NO_ROW: no caller. */
static enum unwind_result step_by(struct offline_walk *walk, caller_search_in *search,
                                  struct stack_frame *frame)
{
    if (!walk->map->code || !keeps_sp(walk))
        return UNWIND_NO_ROW;
    const struct code_map code = code_of(walk);
    const struct caller caller = search(&code, frame, walk->stack);
    if (caller.evidence == CALLER_NONE)
        return UNWIND_NO_ROW;
    walk->may_be_entered = caller.evidence == CALLER_BEYOND;
    if (walk->may_be_entered)
        return UNWIND_OFF_STACK;
    walk->evidence = caller.evidence;
    walk->leads_nowhere = false;
    *frame = caller.frame;
    return caller.evidence == CALLER_IS_ROOT ? UNWIND_END : UNWIND_OK;
}

/*
 * Out of code without CFI, by falling trust:
 *
 *     1 caller search           the function's code gives the place of the return address
 *     2 stack of Erlang         the tags of words separate terms from return addresses
 *     3 frame pointer           the caller must be code
 *     4 code entered by a jump  the frame of the function that jumped
 *
 * A guess of the caller search yields to 4 alone: 2 and 3 are for code unknown to the search.
 */
static enum unwind_result step_without_cfi(struct offline_walk *walk, struct stack_frame *frame,
                                           bool *is_signal_frame)
{
    struct caller caller = search_caller(walk, frame);
    struct stack_frame by_fp = *frame;
    enum unwind_result result;
    walk->evidence = caller.evidence;
    switch (caller.evidence) {
    case CALLER_IS_ROOT:
        *frame = caller.frame;
        return UNWIND_END;
    case CALLER_VERIFIED:
    case CALLER_PLAUSIBLE:
        *frame = caller.frame;
        *is_signal_frame = !frame->is_return_address;
        return UNWIND_OK;
    case CALLER_GUESSED: /* but the caller may lie in code newer than the map */
        result = step_by(walk, entered_code_caller, frame);
        if (result == UNWIND_OK)
            return UNWIND_OK;
        (void)step_by_frame_pointer(walk, &by_fp);
        return walk->leads_nowhere ? UNWIND_NO_ROW : result;
    case CALLER_BEYOND:
        return UNWIND_OFF_STACK;
    case CALLER_UNREADABLE:
    case CALLER_NONE:
        break;
    }
    result = step_by(walk, tagged_stack_caller, frame);
    if (result == UNWIND_NO_ROW)
        result = step_by(walk, outside_frame_caller, frame);
    if (result != UNWIND_NO_ROW)
        return result;
    result = step_by_frame_pointer(walk, frame);
    walk->has_followed_fp |= result == UNWIND_OK;
    if (result == UNWIND_OK || result == UNWIND_END)
        return result;
    enum unwind_result entered = step_by(walk, entered_code_caller, frame);
    if (entered == UNWIND_OFF_STACK && walk->leads_nowhere)
        return UNWIND_NO_ROW;
    return entered == UNWIND_NO_ROW ? result : entered;
}

/* Whether FP is known after a step by this rule. */
static bool keeps_fp(uint32_t rule, bool fp_is_known)
{
    uint32_t k = row_fp(rule);
    return fp_is_known || row_kind(rule) == ROW_SIGNAL || (k != ROW_FP_SAME && k != ROW_FP_AT_FP);
}

static bool is_first_of_stack(const struct offline_walk *walk, uint32_t rule,
                              const struct stack_frame *frame)
{
    enum row_kind kind = row_kind(rule);
    if (!walk->map->code || !frame->fp_is_known || (kind != ROW_FP && kind != ROW_FP_DEREF))
        return false;
    const struct code_map code = code_of(walk);
    return caller_is_on_another_stack(&code, walk->stack, frame->regs.fp);
}

/* After a step by frame pointer on a machine where SP is lost then, rows cannot be applied, but the
 * root is still recognized. */
static enum unwind_result step_by_row(struct offline_walk *walk, const struct offline_place *place,
                                      struct stack_frame *frame, bool *is_signal_frame)
{
    enum unwind_result result = UNWIND_NO_ROW;
    *is_signal_frame = row_kind(place->rule) == ROW_SIGNAL;
    if (!frame->fp_is_known && needs_fp(place->rule) && !infer_fp(walk, place->rule, frame))
        return UNWIND_COMPLEX;
    if (!walk->has_lost_sp || row_kind(place->rule) == ROW_END)
        result = unwind_apply(place->rule, &frame->regs, walk->stack);
    if (result == UNWIND_NO_ROW)
        return step_without_cfi(walk, frame, is_signal_frame);
    if (result == UNWIND_OFF_STACK && is_first_of_stack(walk, place->rule, frame)) {
        walk->evidence = CALLER_IS_ROOT;
        return UNWIND_END;
    }
    frame->fp_is_known = keeps_fp(place->rule, frame->fp_is_known);
    frame->all_inside = *is_signal_frame ? NULL : frame->all;
    frame->all = NULL;
    return result;
}

/* Around the system call of clone(): the code before has the same frame. */
static enum unwind_result step_in_clone(const struct offline_walk *walk, uint32_t rule,
                                        struct full_regs *full)
{
    struct unwind_regs regs = offline_frame_of(full, false).regs;
    uint32_t reg = row_register(rule);
    if (!(full->known >> reg & 1))
        return UNWIND_COMPLEX;
    enum unwind_result result = unwind_apply_register(rule, full->value[reg], &regs, walk->stack);
    full->value[UNWIND_DWARF_PC] = regs.pc;
    full->value[UNWIND_DWARF_SP] = regs.sp;
    return result;
}

/* The same step for all registers. Behind code without CFI only PC, SP and maybe FP are known. */
static enum unwind_result step_full(struct offline_walk *walk, struct full_regs *full,
                                    bool *is_return_address)
{
    uint64_t lookup_pc = unwind_lookup_pc(full->value[UNWIND_DWARF_PC], *is_return_address);
    struct offline_place place;
    bool is_found = offline_find_place(walk, lookup_pc, &place);
    bool is_signal_frame = false;
    enum unwind_result result = UNWIND_NO_ROW;
    if (is_found && place.module)
        result = unwind_module_step(place.module, lookup_pc - place.bias, full, walk->stack,
                                    &is_signal_frame);
    if (result == UNWIND_NO_ROW && is_found && row_kind(place.rule) == ROW_CLONE) {
        result = step_in_clone(walk, place.rule, full);
    } else if (result == UNWIND_NO_ROW && is_found) {
        struct stack_frame frame = offline_frame_of(full, *is_return_address);
        result = step_by_row(walk, &place, &frame, &is_signal_frame);
        if (result == UNWIND_OK)
            *full = widen(&frame);
    }
    full->value[UNWIND_DWARF_PC] = code_address(walk, full->value[UNWIND_DWARF_PC]);
    if (result == UNWIND_OK) {
        *is_return_address = !is_signal_frame;
        walk->is_interrupted = is_signal_frame;
    }
    return result;
}

/* A complex frame: first its registers, then the step itself. */
static enum unwind_result step_complex(struct offline_walk *walk)
{
    enum unwind_result result = UNWIND_OK;
    for (; walk->behind > 0 && result == UNWIND_OK; walk->behind--)
        result = step_full(walk, &walk->full, &walk->full_is_return_address);
    if (result == UNWIND_OK)
        result = step_full(walk, &walk->full, &walk->full_is_return_address);
    walk->frame = offline_frame_of(&walk->full, walk->full_is_return_address);
    return result;
}

/* A step by a rule other than the place's own: of a cache's walk, and of the registers behind the
 * rows, only the frame reached remains. */
static void start_over(struct offline_walk *walk)
{
    if (walk->map->walks)
        unwind_cache_other_step(walk->map->walks);
    walk->full = widen(&walk->frame);
    walk->full_is_return_address = walk->frame.is_return_address;
    walk->behind = 0;
}

static void count_search(struct offline_walk *walk)
{
    walk->searched.verified += walk->evidence == CALLER_VERIFIED;
    walk->searched.plausible += walk->evidence == CALLER_PLAUSIBLE;
}

/* Whether the step needs memory of the stack that the function came from. */
static bool is_cut_by_switch(const struct offline_walk *walk, enum unwind_result result,
                             const struct stack_frame *callee)
{
    if (!walk->map->code || (result != UNWIND_COMPLEX && result != UNWIND_OFF_STACK))
        return false;
    const struct code_map code = code_of(walk);
    return caller_has_come_from_another_stack(&code, callee, walk->stack);
}

static enum unwind_result end_at(struct offline_walk *walk, const struct stack_frame *root)
{
    walk->frame = *root;
    walk->evidence = CALLER_IS_ROOT;
    return UNWIND_END;
}

enum unwind_result offline_step(struct offline_walk *walk, const struct offline_place *place)
{
    bool is_signal_frame;
    struct unwind_cache *walks = walk->map->walks;
    const struct stack_frame callee = walk->frame;
    walk->evidence = CALLER_NONE;
    enum unwind_result result = step_by_row(walk, place, &walk->frame, &is_signal_frame);
    /* A failing row of the innermost frame may need FP from below SP: was_popped(). */
    if (result == UNWIND_COMPLEX || (result == UNWIND_OFF_STACK && walk->behind == 0)) {
        if (walks)
            unwind_cache_other_step(walks);
        result = step_complex(walk);
        return is_cut_by_switch(walk, result, &callee) ? end_at(walk, &callee) : result;
    }
    if (result == UNWIND_OK) {
        walk->frame.is_return_address = !is_signal_frame;
        walk->is_interrupted = is_signal_frame;
    }
    count_search(walk);
    bool is_inferred = !callee.fp_is_known && needs_fp(place->rule);
    if (is_inferred || (row_kind(place->rule) == ROW_NONE && !walk->frame.fp_is_known)) {
        start_over(walk);
        return result;
    }
    if (walks && result == UNWIND_OK)
        unwind_cache_step(walks, place->rule, &callee.regs, &walk->frame.regs);
    walk->behind++;
    return result;
}
