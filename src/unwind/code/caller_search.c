/* SPDX-License-Identifier: MIT */
#include "unwind/code/caller_search.h"

#include "unwind/code/call_target.h"

enum {
    FUNCTION_BYTES_MAX = 64 << 10, /* decoded from the function's start up to PC */
    ROOT_BYTES = 32,               /* behind the return address of a thread's first function */
    STARTS_MAX = 8,                /* tried for a function without a known start */
    OTHER_STACK_BYTES = 1 << 20,   /* no frame is as large */
};

struct search {
    struct call_target target; /* the callee, as the target of calls */
    bool is_beyond;            /* a place of the return address is behind the bytes of the stack */
    struct code_frame frame;
    struct stack_frame callee;
};

static const struct machine_code *machine_of(const struct search *s)
{
    return code_image_machine(s->target.place.image);
}

/* FP of the caller: where the callee saved the register, or unchanged. */
static void find_fp(const struct search *s, uint64_t slot_avma, struct stack_frame *caller)
{
    caller->regs.fp = s->callee.regs.fp;
    caller->fp_is_known = s->callee.fp_is_known && (s->frame.is_known || s->frame.has_copy);
    if (s->frame.saves_fp)
        caller->fp_is_known =
            slot_avma - s->frame.saved_fp_return_bytes >= s->callee.regs.sp &&
            stack_load(s->target.stack, slot_avma - s->frame.saved_fp_return_bytes,
                       &caller->regs.fp);
}

static struct caller caller_at(const struct search *s, uint64_t slot_avma, uint64_t word,
                               enum caller_evidence evidence)
{
    struct caller caller = {.evidence = evidence, .frame.is_return_address = true};
    caller.frame.regs.pc = word;
    caller.frame.regs.sp = slot_avma + sizeof(word);
    caller.frame.all_inside = s->callee.all;
    find_fp(s, slot_avma, &caller.frame);
    return caller;
}

/* The place where the code of the callee puts the return address. */
static struct caller try_place(struct search *s, uint64_t slot_avma)
{
    uint64_t word;
    if (slot_avma % sizeof(word) != 0 || slot_avma < s->callee.regs.sp ||
        !stack_load(s->target.stack, slot_avma, &word))
        return (struct caller){.evidence = CALLER_NONE};
    s->target.is_at_place = true;
    enum caller_evidence evidence = call_target_judge(&s->target, word);
    s->target.is_at_place = false;
    return caller_at(s, slot_avma, word,
                     evidence == CALLER_UNREADABLE ? CALLER_PLAUSIBLE : evidence);
}

/* The place by a register other than SP, maybe behind the bytes of the stack. */
static struct caller try_far_place(struct search *s, uint64_t slot_avma)
{
    s->is_beyond |=
        slot_avma >= s->target.stack->hi && slot_avma - s->target.stack->hi < OTHER_STACK_BYTES;
    return try_place(s, slot_avma);
}

/* The first word behind a call of the callee; or, as a guess, the first word behind another
 * call. */
static struct caller scan(struct search *s)
{
    struct caller guess = {.evidence = CALLER_NONE};
    uint64_t start_avma = (s->callee.regs.sp + 7) & ~UINT64_C(7), word;
    for (uint64_t at = 0; at < SEARCH_BYTES_MAX && call_target_may_look(&s->target, sizeof(word));
         at += sizeof(word)) {
        if (!stack_load(s->target.stack, start_avma + at, &word))
            continue;
        enum caller_evidence evidence = call_target_judge(&s->target, word);
        if (evidence == CALLER_VERIFIED)
            return caller_at(s, start_avma + at, word, evidence);
        if (evidence > CALLER_UNREADABLE && guess.evidence == CALLER_NONE)
            guess = caller_at(s, start_avma + at, word, CALLER_GUESSED);
    }
    return guess;
}

/* The callee's frame, if its function starts at s->target.start_svma. */
static void find_frame(struct search *s)
{
    const struct caller_cache_key key = call_target_key(&s->target, s->callee.regs.pc);
    uint64_t bytes = s->callee.regs.pc - s->target.place.bias - s->target.start_svma;
    size_t size;
    if (caller_cache_find_frame(s->target.map->cache, &key, &s->frame))
        return;
    const uint8_t *code = code_image_bytes(s->target.place.image, s->target.start_svma,
                                           bytes < FUNCTION_BYTES_MAX ? (size_t)bytes : 0, &size);
    s->frame = (struct code_frame){0};
    if (!call_target_may_look(&s->target, size))
        return;
    s->frame = size == bytes ? machine_of(s)->frame_at(code, size) : (struct code_frame){0};
    caller_cache_keep_frame(s->target.map->cache, &key, &s->frame);
}

/* SP before it was realigned. Code that keeps the copy across a call, in a register not saved by
 * callees, relies on a called function that leaves this register alone. */
static bool find_copy(const struct search *s, uint64_t *sp)
{
    const struct stack_frame *callee = &s->callee;
    uint32_t reg = s->frame.copy_register;
    const struct full_regs *regs = callee->all                           ? callee->all
                                   : machine_of(s)->is_callee_saved(reg) ? NULL
                                                                         : callee->all_inside;
    if (s->frame.saves_copy)
        return stack_load(s->target.stack, callee->regs.sp + s->frame.saved_copy_bytes, sp);
    if (!s->frame.has_copy || !regs || !(regs->known >> reg & 1))
        return false;
    *sp = regs->value[reg];
    return true;
}

/* By the prologue, if the function starts at start_svma. */
static struct caller try_start(struct search *s, uint64_t start_svma)
{
    struct caller by_sp = {.evidence = CALLER_NONE}, other = by_sp;
    const struct unwind_regs *regs = &s->callee.regs;
    uint64_t copied_sp;
    s->target.start_svma = start_svma;
    find_frame(s);
    if (s->frame.is_known)
        by_sp = try_place(s, regs->sp + s->frame.return_bytes);
    if (by_sp.evidence == CALLER_VERIFIED)
        return by_sp;
    if (find_copy(s, &copied_sp))
        other = try_far_place(s, copied_sp + s->frame.copy_return_bytes);
    else if (s->frame.has_fp && s->callee.fp_is_known)
        other = try_far_place(s, s->callee.regs.fp + s->frame.fp_return_bytes);
    return other.evidence >= CALLER_PLAUSIBLE ? other : by_sp;
}

/* The function may start later than the last known start: behind padding. */
static struct caller try_unnamed_starts(struct search *s, uint64_t named_svma)
{
    uint64_t svma =
        unwind_lookup_pc(s->callee.regs.pc, s->callee.is_return_address) - s->target.place.bias;
    const struct machine_code *machine = machine_of(s);
    svma -= svma % machine->function_alignment;
    for (int i = 0; i < STARTS_MAX && svma > named_svma && call_target_may_look(&s->target, 1);
         svma -= machine->function_alignment) {
        const uint8_t *before = code_image_before(s->target.place.image, svma, 1);
        if (!before || !machine->may_end_function(before, 1))
            continue;
        struct caller caller = try_start(s, svma);
        if (caller.evidence >= CALLER_PLAUSIBLE)
            return caller;
        i++;
    }
    return (struct caller){.evidence = CALLER_NONE};
}

/* The start before that the function may have in truth: of its first entry, or if the start may be
 * a label. */
static bool find_earlier_start(struct search *s, struct code_function *function)
{
    const struct code_image *image = s->target.place.image;
    const struct code_function later = *function;
    return code_image_function(image, later.start_svma - 1, function) &&
           (later.is_label ||
            call_target_runs_into(&s->target, image, function->start_svma, later.start_svma));
}

/* From the last known start, and from earlier ones. Ends with the frame of the earliest. */
static struct caller try_named_starts(struct search *s, struct code_function function)
{
    struct caller best = {.evidence = CALLER_NONE};
    for (int i = 0; i < STARTS_MAX; i++) {
        struct caller caller = try_start(s, function.start_svma);
        if (caller.evidence == CALLER_VERIFIED)
            return caller;
        if (caller.evidence > best.evidence)
            best = caller;
        if (!find_earlier_start(s, &function))
            break;
    }
    return best;
}

/* The prologue gives the place for each possible start of the function. Without a plausible word
 * there, all words above SP are tried, with the function's named start. */
static struct caller search(struct search *s, const struct code_function *function)
{
    struct caller caller = try_named_starts(s, *function);
    if (caller.evidence >= CALLER_PLAUSIBLE)
        return caller;
    uint64_t start_svma = s->target.start_svma;
    caller = try_unnamed_starts(s, function->start_svma);
    if (caller.evidence >= CALLER_PLAUSIBLE)
        return caller;
    (void)try_start(s, start_svma);
    return scan(s);
}

/* The kernel's frame of a signal, at SP behind the return address of the handler. */
static struct caller interrupted(const struct search *s)
{
    struct caller caller = {.evidence = CALLER_NONE, .frame.regs = s->callee.regs};
    if (unwind_apply(row_rule(ROW_SIGNAL, ROW_FP_SAME, 0), &caller.frame.regs, s->target.stack) ==
        UNWIND_OK)
        caller.evidence = CALLER_VERIFIED;
    caller.frame.fp_is_known = true;
    return caller;
}

/* Whether no call precedes the address: the function of a context, or of a fiber, returns there. */
static bool is_returned_to(const struct code_image *image, uint64_t svma)
{
    const uint8_t *before = code_image_before(image, svma, CODE_CALL_BYTES_MAX);
    return !before ||
           code_image_machine(image)->call_before(before, CODE_CALL_BYTES_MAX, svma).kind ==
               BRANCH_NONE;
}

/* The callee as the root; evidence CALLER_NONE: the callee has a caller. An address without a call
 * before it counts as interrupted. */
static struct caller root(const struct search *s, uint64_t start_svma)
{
    size_t size;
    uint64_t svma = s->callee.regs.pc - s->target.place.bias;
    const uint8_t *code = code_image_bytes(s->target.place.image, svma, ROOT_BYTES, &size);
    const struct machine_code *machine = machine_of(s);
    bool ends_thread = s->callee.is_return_address &&
                       (machine->starts_context(code, size) || machine->ends_thread(code, size));
    struct caller root = {.evidence = CALLER_NONE, .frame = s->callee};
    root.frame.regs.pc += ends_thread && is_returned_to(s->target.place.image, svma);
    if (ends_thread || start_svma == code_image_entry_svma(s->target.place.image))
        root.evidence = CALLER_IS_ROOT;
    return root;
}

bool caller_is_on_another_stack(const struct code_map *map, const struct stack_view *stack,
                                uint64_t fp)
{
    const uint64_t reach = stack->hi - stack->lo + OTHER_STACK_BYTES;
    return map->is_made_stack && fp != 0 && fp % sizeof(fp) == 0 && fp - stack->lo > reach;
}

static bool is_first_of_stack(struct search *s, uint64_t start_svma)
{
    const struct stack_frame *callee = &s->callee;
    if (!callee->fp_is_known ||
        !caller_is_on_another_stack(s->target.map, s->target.stack, callee->regs.fp))
        return false;
    s->target.start_svma = start_svma;
    find_frame(s);
    return s->frame.has_fp;
}

bool caller_has_come_from_another_stack(const struct code_map *map,
                                        const struct stack_frame *callee,
                                        const struct stack_view *stack)
{
    struct search s = {.target = {.map = map, .stack = stack}, .callee = *callee};
    uint64_t lookup_pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    struct code_function function;
    return map->find(map->context, lookup_pc, &s.target.place) && s.target.place.image &&
           code_image_function(s.target.place.image, lookup_pc - s.target.place.bias, &function) &&
           is_first_of_stack(&s, function.start_svma);
}

struct caller caller_search_of_fde(const struct code_map *map, const struct stack_frame *callee,
                                   const struct stack_view *stack)
{
    struct search s = {.target = {.map = map, .stack = stack, .targets_left = CALL_TARGETS_MAX},
                       .callee = *callee};
    uint64_t lookup_pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    struct code_function function;
    if (!call_target_may_look(&s.target, 0) ||
        !map->find(map->context, lookup_pc, &s.target.place) || !s.target.place.image)
        return (struct caller){.evidence = CALLER_NONE};
    if (code_place_is_sigreturn(&s.target.place, callee->regs.pc - s.target.place.bias))
        return interrupted(&s);
    if (!code_image_function(s.target.place.image, lookup_pc - s.target.place.bias, &function))
        return (struct caller){.evidence = CALLER_NONE};
    s.target.end_svma = function.end_svma;
    struct caller caller = root(&s, function.start_svma);
    if (caller.evidence != CALLER_IS_ROOT)
        caller = search(&s, &function);
    if (caller.evidence < CALLER_PLAUSIBLE && is_first_of_stack(&s, function.start_svma))
        caller = (struct caller){.evidence = CALLER_IS_ROOT, .frame = *callee};
    if (caller.evidence <= CALLER_GUESSED && s.is_beyond)
        caller.evidence = CALLER_BEYOND;
    return caller;
}

struct caller caller_search(const struct code_map *map, const struct stack_frame *callee,
                            const struct stack_view *stack)
{
    struct code_place place;
    uint64_t lookup_pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    bool has_starts = map->find(map->context, lookup_pc, &place) && place.image &&
                      code_image_knows_start(place.image, lookup_pc - place.bias);
    return has_starts ? caller_search_of_fde(map, callee, stack)
                      : (struct caller){.evidence = CALLER_NONE};
}
