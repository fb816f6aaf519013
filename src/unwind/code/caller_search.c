/* SPDX-License-Identifier: MIT */
#include "unwind/code/caller_search.h"

#include "unwind/arch/x86_64_code.h"

enum {
    FUNCTION_BYTES_MAX = 64 << 10, /* decoded from the function's start up to PC */
    TAIL_CALL_BYTES_MAX = 4096,    /* looked through for a tail call */
    JUMP_BYTES = 12,               /* endbr64, bnd jmp *slot(%rip) */
    ENTRY_BYTES_MAX = 256,         /* between two entries of a function */
    ROOT_BYTES = 32,               /* behind the return address of a thread's first function */
    TARGETS_MAX = 32,              /* functions looked through in a search */
    TARGET_DEPTH = 3,              /* tail calls between the function called and the callee */
    STARTS_MAX = 8,                /* tried for a function without a known start */
    OTHER_STACK_BYTES = 1 << 20,   /* no frame is as large */
};

struct search {
    const struct code_map *map;
    const struct stack_view *stack;
    struct code_place place; /* of the callee */
    uint64_t start_svma;     /* of the callee's function */
    uint64_t end_svma;       /* the next known start behind the callee's PC */
    bool is_beyond;          /* a place of the return address is behind the bytes of the stack */
    bool is_at_place;        /* the word is where the prologue puts the return address */
    struct code_frame frame;
    struct stack_frame callee;
    unsigned targets_left;
};

/* Without room for more work, evidence is not kept. */
static bool may_look(struct search *s, size_t bytes)
{
    bool may = caller_cache_may_look(s->map->cache, bytes);
    if (!may)
        s->targets_left = 0;
    return may;
}

static enum caller_evidence judge_target(struct search *s, const struct code_place *place,
                                         uint64_t svma, int depth);
static enum caller_evidence judge_slot(struct search *s, const struct code_place *place,
                                       uint64_t slot_svma, int depth);

/* Whether a jump leads behind the callee's start: hand-written functions share their ends. Stale
 * return addresses of such functions are frequent, so this counts at the prologue's place only. */
static bool is_shared_end(const struct search *s, const struct code_place *place, uint64_t svma)
{
    return s->is_at_place && place->image == s->place.image && svma > s->start_svma &&
           svma < s->end_svma;
}

/* Whether the code from start_svma on runs into end_svma: hand-written functions have a second
 * entry behind their first instructions. */
static bool runs_into(struct search *s, const struct code_image *image, uint64_t start_svma,
                      uint64_t end_svma)
{
    uint64_t bytes = end_svma - start_svma;
    size_t size, at = 0, step = 1;
    bool may_end = true;
    const uint8_t *code =
        code_image_bytes(image, start_svma, bytes < ENTRY_BYTES_MAX ? (size_t)bytes : 0, &size);
    if (!may_look(s, size))
        return false;
    for (; at < size && step > 0; at += step) {
        step = x86_64_instruction_bytes(code + at, size - at);
        may_end = x86_64_may_precede_function(code + at, size - at, may_end);
    }
    return at == bytes && step > 0 && !may_end;
}

/* The function up to the end of its last entry. */
static uint64_t whole_end(struct search *s, const struct code_image *image,
                          struct code_function function)
{
    for (int i = 0; i < STARTS_MAX && runs_into(s, image, function.start_svma, function.end_svma);
         i++)
        if (!code_image_function(image, function.end_svma, &function))
            break;
    return function.end_svma;
}

/* Whether the function leaves by a jump to the callee, maybe through another function. */
static enum caller_evidence judge_tail_calls(struct search *s, const struct code_place *place,
                                             const struct code_function *function, int depth)
{
    const uint64_t end_svma = whole_end(s, place->image, *function);
    uint64_t svma = function->start_svma, bytes = end_svma - svma, target_svma;
    size_t size, at = 0;
    const uint8_t *code =
        code_image_bytes(place->image, svma,
                         bytes < TAIL_CALL_BYTES_MAX ? (size_t)bytes : TAIL_CALL_BYTES_MAX, &size);
    if (!may_look(s, size))
        return CALLER_GUESSED;
    while (x86_64_next_jump(code, size, &at, svma, &target_svma)) {
        bool is_inside = target_svma > svma && target_svma < end_svma;
        if (is_inside)
            continue;
        if (is_shared_end(s, place, target_svma) ||
            judge_target(s, place, target_svma, depth - 1) == CALLER_VERIFIED)
            return CALLER_VERIFIED;
    }
    return x86_64_has_indirect_jump(code, size) ? CALLER_PLAUSIBLE : CALLER_GUESSED;
}

/* Whether a call of svma leads to the callee: directly, through a stub or by tail calls. */
static enum caller_evidence judge_target(struct search *s, const struct code_place *place,
                                         uint64_t svma, int depth)
{
    if (place->image == s->place.image && svma == s->start_svma)
        return CALLER_VERIFIED;
    if (depth == 0 || s->targets_left == 0)
        return CALLER_GUESSED;
    s->targets_left--;
    size_t size;
    struct code_function function;
    const uint8_t *code = code_image_bytes(place->image, svma, JUMP_BYTES, &size);
    struct code_branch jump = x86_64_jump_at(code, size, svma);
    if (jump.kind == BRANCH_SLOT)
        return judge_slot(s, place, jump.svma, depth);
    if (!code_image_function(place->image, svma, &function) || function.start_svma != svma)
        return CALLER_GUESSED;
    return judge_tail_calls(s, place, &function, depth);
}

/* A slot holds a function of the same file, or a named function of the callee's file. */
static enum caller_evidence judge_slot(struct search *s, const struct code_place *place,
                                       uint64_t slot_svma, int depth)
{
    const struct code_slot *slot = code_image_slot(place->image, slot_svma);
    enum caller_evidence evidence = CALLER_GUESSED;
    if (!slot)
        return CALLER_PLAUSIBLE;
    if (slot->target_svma)
        evidence = judge_target(s, place, slot->target_svma, depth);
    if (evidence == CALLER_VERIFIED || !slot->name.text ||
        !may_look(s, code_image_symbols(s->place.image)))
        return evidence;
    if (code_image_defines(s->place.image, &slot->name, s->start_svma))
        return CALLER_VERIFIED;
    uint64_t svma = s->targets_left ? code_image_find(s->place.image, &slot->name) : 0;
    return svma ? judge_target(s, &s->place, svma, depth) : evidence;
}

/* The entry function has a single call, and C libraries go on to main() by tail calls. */
static bool is_in_entry(const struct code_place *place, uint64_t svma)
{
    struct code_function function;
    return code_image_function(place->image, svma, &function) &&
           function.start_svma == code_image_entry_svma(place->image);
}

static bool is_sigreturn(const struct code_place *place, uint64_t svma)
{
    size_t size;
    const uint8_t *code = code_image_bytes(place->image, svma, JUMP_BYTES, &size);
    return x86_64_is_sigreturn(code, size);
}

static enum caller_evidence judge_call(struct search *s, const struct code_place *place,
                                       uint64_t svma)
{
    const uint8_t *code = code_image_before(place->image, svma, CODE_CALL_BYTES_MAX);
    if (!code)
        return CALLER_NONE;
    struct code_branch call = x86_64_call_before(code, CODE_CALL_BYTES_MAX, svma);
    enum caller_evidence evidence = CALLER_NONE;
    switch (call.kind) {
    case BRANCH_DIRECT:
        evidence = judge_target(s, place, call.svma, TARGET_DEPTH);
        break;
    case BRANCH_SLOT:
        evidence = judge_slot(s, place, call.svma, TARGET_DEPTH);
        break;
    case BRANCH_INDIRECT:
        evidence = CALLER_PLAUSIBLE;
        break;
    case BRANCH_NONE:
        break;
    }
    return evidence == CALLER_GUESSED && is_in_entry(place, svma - 1) ? CALLER_PLAUSIBLE : evidence;
}

static struct caller_cache_key cache_key(const struct search *s, uint64_t avma)
{
    uint64_t at_place = s->is_at_place ? UINT64_C(1) << 63 : 0;
    return (struct caller_cache_key){s->map->generation, avma,
                                     at_place | (s->start_svma + s->place.bias)};
}

/* How likely a word is the return address of the callee. */
static enum caller_evidence judge(struct search *s, uint64_t word)
{
    struct code_place place;
    enum caller_evidence evidence;
    const struct caller_cache_key key = cache_key(s, word);
    bool may_be_code =
        word >= CODE_LOWEST && word < CODE_END && (word < s->stack->lo || word >= s->stack->hi);
    if (!may_be_code)
        return CALLER_NONE;
    if (caller_cache_find_call(s->map->cache, &key, &evidence))
        return evidence;
    if (!s->map->find(s->map->context, word - 1, &place))
        return CALLER_NONE;
    if (!place.image)
        return CALLER_UNREADABLE;
    if (is_sigreturn(&place, word - place.bias))
        return CALLER_PLAUSIBLE;
    evidence = judge_call(s, &place, word - place.bias);
    if (s->targets_left > 0) /* else the same word may have more evidence in another search */
        caller_cache_keep_call(s->map->cache, &key, evidence);
    return evidence;
}

/* FP of the caller: where the callee saved the register, or unchanged. */
static void find_fp(const struct search *s, uint64_t slot_avma, struct stack_frame *caller)
{
    caller->regs.fp = s->callee.regs.fp;
    caller->fp_is_known = s->callee.fp_is_known && (s->frame.is_known || s->frame.has_copy);
    if (s->frame.saves_fp)
        caller->fp_is_known =
            slot_avma - s->frame.saved_fp_return_bytes >= s->callee.regs.sp &&
            stack_load(s->stack, slot_avma - s->frame.saved_fp_return_bytes, &caller->regs.fp);
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
        !stack_load(s->stack, slot_avma, &word))
        return (struct caller){.evidence = CALLER_NONE};
    s->is_at_place = true;
    enum caller_evidence evidence = judge(s, word);
    s->is_at_place = false;
    return caller_at(s, slot_avma, word,
                     evidence == CALLER_UNREADABLE ? CALLER_PLAUSIBLE : evidence);
}

static struct caller try_fp_place(struct search *s)
{
    uint64_t slot_avma = s->callee.regs.fp + s->frame.fp_return_bytes;
    s->is_beyond |= slot_avma >= s->stack->hi && slot_avma - s->stack->hi < OTHER_STACK_BYTES;
    return try_place(s, slot_avma);
}

static struct caller scan(struct search *s)
{
    struct caller guess = {.evidence = CALLER_NONE};
    uint64_t start_avma = (s->callee.regs.sp + 7) & ~UINT64_C(7), word;
    for (uint64_t at = 0; at < SEARCH_BYTES_MAX && may_look(s, sizeof(word)); at += sizeof(word)) {
        if (!stack_load(s->stack, start_avma + at, &word))
            continue;
        enum caller_evidence evidence = judge(s, word);
        if (evidence == CALLER_VERIFIED)
            return caller_at(s, start_avma + at, word, evidence);
        if (evidence > CALLER_UNREADABLE && guess.evidence == CALLER_NONE)
            guess = caller_at(s, start_avma + at, word, CALLER_GUESSED);
    }
    return guess;
}

/* The callee's frame, if its function starts at s->start_svma. */
static void find_frame(struct search *s)
{
    const struct caller_cache_key key = cache_key(s, s->callee.regs.pc);
    uint64_t bytes = s->callee.regs.pc - s->place.bias - s->start_svma;
    size_t size;
    if (caller_cache_find_frame(s->map->cache, &key, &s->frame))
        return;
    const uint8_t *code = code_image_bytes(s->place.image, s->start_svma,
                                           bytes < FUNCTION_BYTES_MAX ? (size_t)bytes : 0, &size);
    s->frame = (struct code_frame){0};
    if (!may_look(s, size))
        return;
    s->frame = size == bytes ? x86_64_frame_at(code, size) : (struct code_frame){0};
    caller_cache_keep_frame(s->map->cache, &key, &s->frame);
}

/* SP before it was realigned. Code that keeps the copy across a call, in a register not saved by
 * callees, relies on a called function that leaves this register alone. */
static bool find_copy(const struct search *s, uint64_t *sp)
{
    const struct stack_frame *callee = &s->callee;
    uint32_t reg = s->frame.copy_register;
    const struct full_regs *regs = callee->all                   ? callee->all
                                   : x86_64_is_callee_saved(reg) ? NULL
                                                                 : callee->all_inside;
    if (s->frame.saves_copy)
        return stack_load(s->stack, callee->regs.sp + s->frame.saved_copy_bytes, sp);
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
    s->start_svma = start_svma;
    find_frame(s);
    if (s->frame.is_known)
        by_sp = try_place(s, regs->sp + s->frame.return_bytes);
    if (by_sp.evidence == CALLER_VERIFIED)
        return by_sp;
    if (find_copy(s, &copied_sp))
        other = try_place(s, copied_sp + s->frame.copy_return_bytes);
    else if (s->frame.has_fp && s->callee.fp_is_known)
        other = try_fp_place(s);
    return other.evidence >= CALLER_PLAUSIBLE ? other : by_sp;
}

/* The function may start later than the last known start: behind padding. */
static struct caller try_unnamed_starts(struct search *s, uint64_t named_svma)
{
    uint64_t svma =
        unwind_lookup_pc(s->callee.regs.pc, s->callee.is_return_address) - s->place.bias;
    svma -= svma % CODE_ALIGNMENT;
    for (int i = 0; i < STARTS_MAX && svma > named_svma && may_look(s, 1); svma -= CODE_ALIGNMENT) {
        const uint8_t *before = code_image_before(s->place.image, svma, 1);
        if (!before || !x86_64_may_end_function(before, 1))
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
    const struct code_image *image = s->place.image;
    const struct code_function later = *function;
    return code_image_function(image, later.start_svma - 1, function) &&
           (later.is_label || runs_into(s, image, function->start_svma, later.start_svma));
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

static struct caller search(struct search *s, const struct code_function *function)
{
    struct caller caller = try_named_starts(s, *function);
    if (caller.evidence >= CALLER_PLAUSIBLE)
        return caller;
    uint64_t start_svma = s->start_svma;
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
    if (unwind_apply(row_rule(ROW_SIGNAL, ROW_FP_SAME, 0), &caller.frame.regs, s->stack) ==
        UNWIND_OK)
        caller.evidence = CALLER_VERIFIED;
    caller.frame.fp_is_known = true;
    return caller;
}

/* Whether no call precedes the address: the function of a context, or of a fiber, returns there. */
static bool is_returned_to(const struct code_image *image, uint64_t svma)
{
    const uint8_t *before = code_image_before(image, svma, CODE_CALL_BYTES_MAX);
    return !before || x86_64_call_before(before, CODE_CALL_BYTES_MAX, svma).kind == BRANCH_NONE;
}

/* The callee as the root; evidence CALLER_NONE: the callee has a caller. An address without a call
 * before it counts as interrupted. */
static struct caller root(const struct search *s, uint64_t start_svma)
{
    size_t size;
    uint64_t svma = s->callee.regs.pc - s->place.bias;
    const uint8_t *code = code_image_bytes(s->place.image, svma, ROOT_BYTES, &size);
    bool ends_thread = s->callee.is_return_address &&
                       (x86_64_starts_context(code, size) || x86_64_ends_thread(code, size));
    struct caller root = {.evidence = CALLER_NONE, .frame = s->callee};
    root.frame.regs.pc += ends_thread && is_returned_to(s->place.image, svma);
    if (ends_thread || start_svma == code_image_entry_svma(s->place.image))
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
    if (!callee->fp_is_known || !caller_is_on_another_stack(s->map, s->stack, callee->regs.fp))
        return false;
    s->start_svma = start_svma;
    find_frame(s);
    return s->frame.has_fp;
}

bool caller_has_come_from_another_stack(const struct code_map *map,
                                        const struct stack_frame *callee,
                                        const struct stack_view *stack)
{
    struct search s = {.map = map, .stack = stack, .callee = *callee};
    uint64_t lookup_pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    struct code_function function;
    return map->find(map->context, lookup_pc, &s.place) && s.place.image &&
           code_image_function(s.place.image, lookup_pc - s.place.bias, &function) &&
           is_first_of_stack(&s, function.start_svma);
}

struct caller caller_search_of_fde(const struct code_map *map, const struct stack_frame *callee,
                                   const struct stack_view *stack)
{
    struct search s = {.map = map, .stack = stack, .callee = *callee, .targets_left = TARGETS_MAX};
    uint64_t lookup_pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    struct code_function function;
    if (!may_look(&s, 0) || !map->find(map->context, lookup_pc, &s.place) || !s.place.image)
        return (struct caller){.evidence = CALLER_NONE};
    if (is_sigreturn(&s.place, callee->regs.pc - s.place.bias))
        return interrupted(&s);
    if (!code_image_function(s.place.image, lookup_pc - s.place.bias, &function))
        return (struct caller){.evidence = CALLER_NONE};
    s.end_svma = function.end_svma;
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
                      code_image_has_all_starts(place.image);
    return has_starts ? caller_search_of_fde(map, callee, stack)
                      : (struct caller){.evidence = CALLER_NONE};
}
