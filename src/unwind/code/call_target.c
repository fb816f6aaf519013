/* SPDX-License-Identifier: MIT */
/*
 * The evidence for a stack word, from the instruction before the address on:
 *
 *     no call                           CALLER_NONE
 *     call *%rax                        CALLER_PLAUSIBLE
 *     call f       f is the callee      CALLER_VERIFIED
 *                  f is a stub          the slot: a function of the file, or a name; as `call f`
 *                  f jumps on           the same for the target, at most TARGET_DEPTH tail calls
 *                  else                 CALLER_GUESSED
 *     code unreadable                   CALLER_UNREADABLE
 *
 * Recursion is bounded twice: by the depth, and by targets_left for all branches together.
 */
#include "unwind/code/call_target.h"

enum {
    TAIL_CALL_BYTES_MAX = 4096, /* looked through for a tail call */
    JUMP_BYTES = 12,            /* endbr64, bnd jmp *slot(%rip) */
    ENTRY_BYTES_MAX = 256,      /* between two entries of a function */
    TARGET_DEPTH = 3,           /* tail calls between the function called and the callee */
    ENTRIES_MAX = 8,            /* of a function */
};

static enum caller_evidence judge_target(struct call_target *target, const struct code_place *place,
                                         uint64_t svma, int depth);
static enum caller_evidence judge_slot(struct call_target *target, const struct code_place *place,
                                       uint64_t slot_svma, int depth);

/* Whether a jump leads behind the callee's start: hand-written functions share their ends. Stale
 * return addresses of such functions are frequent, so this counts at the prologue's place only. */
static bool is_shared_end(const struct call_target *target, const struct code_place *place,
                          uint64_t svma)
{
    return target->is_at_place && place->image == target->place.image &&
           svma > target->start_svma && svma < target->end_svma;
}

bool call_target_runs_into(struct call_target *target, const struct code_image *image,
                           uint64_t start_svma, uint64_t end_svma)
{
    uint64_t bytes = end_svma - start_svma;
    size_t size, at = 0, step = 1;
    bool may_end = true;
    const struct machine_code *machine = code_image_machine(image);
    const uint8_t *code =
        code_image_bytes(image, start_svma, bytes < ENTRY_BYTES_MAX ? (size_t)bytes : 0, &size);
    if (!call_target_may_look(target, size))
        return false;
    for (; at < size && step > 0; at += step) {
        step = machine->pass_instruction(code + at, size - at, &may_end);
    }
    return at == bytes && step > 0 && !may_end;
}

/* The function up to the end of its last entry. */
static uint64_t whole_end(struct call_target *target, const struct code_image *image,
                          struct code_function function)
{
    for (int i = 0; i < ENTRIES_MAX &&
                    call_target_runs_into(target, image, function.start_svma, function.end_svma);
         i++)
        if (!code_image_function(image, function.end_svma, &function))
            break;
    return function.end_svma;
}

/* Whether the function leaves by a jump to the callee, maybe through another function. */
static enum caller_evidence judge_tail_calls(struct call_target *target,
                                             const struct code_place *place,
                                             const struct code_function *function, int depth)
{
    const struct machine_code *machine = code_image_machine(place->image);
    const uint64_t end_svma = whole_end(target, place->image, *function);
    uint64_t svma = function->start_svma, bytes = end_svma - svma, target_svma;
    size_t size, at = 0;
    const uint8_t *code =
        code_image_bytes(place->image, svma,
                         bytes < TAIL_CALL_BYTES_MAX ? (size_t)bytes : TAIL_CALL_BYTES_MAX, &size);
    if (!call_target_may_look(target, size))
        return CALLER_GUESSED;
    while (machine->next_jump(code, size, &at, svma, &target_svma)) {
        bool is_inside = target_svma > svma && target_svma < end_svma;
        if (is_inside)
            continue;
        if (is_shared_end(target, place, target_svma) ||
            judge_target(target, place, target_svma, depth - 1) == CALLER_VERIFIED)
            return CALLER_VERIFIED;
    }
    return machine->has_indirect_jump(code, size) ? CALLER_PLAUSIBLE : CALLER_GUESSED;
}

/* Whether a call of svma leads to the callee: directly, through a stub or by tail calls. */
static enum caller_evidence judge_target(struct call_target *target, const struct code_place *place,
                                         uint64_t svma, int depth)
{
    if (place->image == target->place.image && svma == target->start_svma)
        return CALLER_VERIFIED;
    if (depth == 0 || target->targets_left == 0)
        return CALLER_GUESSED;
    target->targets_left--;
    size_t size;
    struct code_function function;
    const uint8_t *code = code_image_bytes(place->image, svma, JUMP_BYTES, &size);
    struct code_branch jump = code_image_machine(place->image)->jump_at(code, size, svma);
    if (jump.kind == BRANCH_SLOT)
        return judge_slot(target, place, jump.svma, depth);
    if (!code_image_function(place->image, svma, &function) || function.start_svma != svma)
        return CALLER_GUESSED;
    return judge_tail_calls(target, place, &function, depth);
}

/* A slot holds a function of the same file, or a named function of the callee's file; or first the
 * function that chooses one by the processor, as in libraries with code for several of them. */
static enum caller_evidence judge_slot(struct call_target *target, const struct code_place *place,
                                       uint64_t slot_svma, int depth)
{
    const struct code_slot *slot = code_image_slot(place->image, slot_svma);
    if (!slot)
        return CALLER_PLAUSIBLE;
    enum caller_evidence evidence = CALLER_GUESSED;
    if (slot->target_svma)
        evidence = judge_target(target, place, slot->target_svma, depth);
    if (slot->may_change && evidence < CALLER_PLAUSIBLE)
        evidence = CALLER_PLAUSIBLE;
    if (evidence == CALLER_VERIFIED || !slot->name.text ||
        !call_target_may_look(target, code_image_symbols(target->place.image)))
        return evidence;
    if (code_image_defines(target->place.image, &slot->name, target->start_svma))
        return CALLER_VERIFIED;
    uint64_t svma = target->targets_left ? code_image_find(target->place.image, &slot->name) : 0;
    return svma ? judge_target(target, &target->place, svma, depth) : evidence;
}

/* code: the bytes before svma, from code_image_before(). */
static struct code_branch call_before(const struct code_place *place, const uint8_t *code,
                                      uint64_t svma)
{
    return code_image_machine(place->image)->call_before(code, CODE_CALL_BYTES_MAX, svma);
}

/* The entry function has a single call, and C libraries go on to main() by tail calls. */
static bool is_in_entry(const struct code_place *place, uint64_t svma)
{
    struct code_function function;
    return code_image_function(place->image, svma, &function) &&
           function.start_svma == code_image_entry_svma(place->image);
}

bool code_place_is_sigreturn(const struct code_place *place, uint64_t svma)
{
    size_t size;
    const uint8_t *code = code_image_bytes(place->image, svma, JUMP_BYTES, &size);
    return code_image_machine(place->image)->is_sigreturn(code, size);
}

/* Without the bytes before svma, an address of a file in pieces counts as a return address. */
bool code_place_is_returned_to(const struct code_place *place, uint64_t svma)
{
    const uint8_t *code = code_image_before(place->image, svma, CODE_CALL_BYTES_MAX);
    if (!code) /* the first bytes, or too many pieces */
        return !code_image_has_all_starts(place->image);
    return call_before(place, code, svma).kind != BRANCH_NONE ||
           code_place_is_sigreturn(place, svma);
}

/* A call of an unknown target is plausible. A known target other than the callee is a guess only: a
 * stale word, or a tail call that was not found. */
static enum caller_evidence judge_call(struct call_target *target, const struct code_place *place,
                                       uint64_t svma)
{
    const uint8_t *code = code_image_before(place->image, svma, CODE_CALL_BYTES_MAX);
    if (!code) /* the first bytes, or too many pieces */
        return code_image_has_all_starts(place->image) ? CALLER_NONE : CALLER_UNREADABLE;
    struct code_branch call = call_before(place, code, svma);
    enum caller_evidence evidence = CALLER_NONE;
    switch (call.kind) {
    case BRANCH_DIRECT:
        evidence = judge_target(target, place, call.svma, TARGET_DEPTH);
        break;
    case BRANCH_SLOT:
        evidence = judge_slot(target, place, call.svma, TARGET_DEPTH);
        break;
    case BRANCH_INDIRECT:
        evidence = CALLER_PLAUSIBLE;
        break;
    case BRANCH_NONE:
        break;
    }
    return evidence == CALLER_GUESSED && is_in_entry(place, svma - 1) ? CALLER_PLAUSIBLE : evidence;
}

struct caller_cache_key call_target_key(const struct call_target *target, uint64_t avma)
{
    uint64_t at_place = target->is_at_place ? UINT64_C(1) << 63 : 0;
    return (struct caller_cache_key){target->map->generation, avma,
                                     at_place | (target->start_svma + target->place.bias)};
}

enum caller_evidence call_target_judge(struct call_target *target, uint64_t word)
{
    struct code_place place;
    enum caller_evidence evidence;
    const struct caller_cache_key key = call_target_key(target, word);
    bool may_be_code = word >= CODE_LOWEST && word < CODE_END &&
                       (word < target->stack->lo || word >= target->stack->hi);
    if (!may_be_code)
        return CALLER_NONE;
    if (caller_cache_find_call(target->map->cache, &key, &evidence))
        return evidence;
    if (!target->map->find(target->map->context, word - 1, &place))
        return CALLER_NONE;
    if (!place.image)
        return CALLER_UNREADABLE;
    if (code_place_is_sigreturn(&place, word - place.bias))
        return CALLER_PLAUSIBLE;
    evidence = judge_call(target, &place, word - place.bias);
    if (target->targets_left > 0) /* else the same word may have more evidence in another search */
        caller_cache_keep_call(target->map->cache, &key, evidence);
    return evidence;
}
