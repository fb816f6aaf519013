/* SPDX-License-Identifier: MIT */
#include "unwind/generated/entered_code.h"

enum {
    FRAME_BYTES_MAX = 18 << 10, /* StgRun's frame has 16.05 KiB */
    FUNCTION_BYTES_MAX = 256,   /* up to the jump */
};

struct entry_search {
    const struct code_map *map;
    const struct stack_view *stack;
    uint64_t sp; /* as the code was entered */
};

/* Arguments on the stack are removed behind the call: code that was entered has SP as before. */
static uint64_t entry_sp(const struct code_map *map, const struct stack_frame *callee)
{
    struct code_place place;
    size_t size;
    uint64_t sp = callee->regs.sp;
    if (!callee->is_return_address || !map->find(map->context, callee->regs.pc - 1, &place) ||
        !place.image)
        return sp;
    const uint8_t *code =
        code_image_bytes(place.image, callee->regs.pc - place.bias, CODE_CLEANUP_BYTES_MAX, &size);
    return sp + code_image_machine(place.image)->cleanup_bytes(code, size);
}

/* Whether the word is behind a direct call; *target_svma: the called function. */
static bool find_call(const struct entry_search *s, uint64_t word, struct code_place *place,
                      uint64_t *target_svma)
{
    if (!s->map->find(s->map->context, word - 1, place) || !place->image)
        return false;
    const uint8_t *code = code_image_before(place->image, word - place->bias, CODE_CALL_BYTES_MAX);
    if (!code)
        return false;
    struct code_branch call = code_image_machine(place->image)
                                  ->call_before(code, CODE_CALL_BYTES_MAX, word - place->bias);
    *target_svma = call.svma;
    return call.kind == BRANCH_DIRECT;
}

static bool find_entry(const struct entry_search *s, uint64_t word, uint64_t bytes,
                       struct code_frame *frame)
{
    struct code_place place;
    uint64_t svma;
    return find_call(s, word, &place, &svma) && code_image_entry_frame(place.image, svma, frame) &&
           frame->return_bytes == bytes;
}

/* The frame of the function that entered the code, if it was called before the return address. */
static bool is_entry(const struct entry_search *s, uint64_t word, uint64_t bytes,
                     struct code_frame *frame)
{
    /* Several kinds of results share the cache: the top bits of a key separate the kinds. */
    const uint64_t of_entries = UINT64_C(1) << 62;
    const struct caller_cache_key key = {s->map->generation, word, of_entries | bytes};
    bool is_code =
        word >= CODE_LOWEST && word < CODE_END && (word < s->stack->lo || word >= s->stack->hi);
    if (!is_code)
        return false;
    if (caller_cache_find_frame(s->map->cache, &key, frame))
        return frame->is_known;
    if (!caller_cache_may_look(s->map->cache, FUNCTION_BYTES_MAX))
        return false;
    *frame = (struct code_frame){0};
    if (!find_entry(s, word, bytes, frame))
        *frame = (struct code_frame){0};
    caller_cache_keep_frame(s->map->cache, &key, frame);
    return frame->is_known;
}

static bool is_of_file(const struct code_map *map, const struct stack_frame *callee)
{
    struct code_place place;
    const uint64_t pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    return map->find(map->context, pc, &place) && place.image;
}

/* Whether the function called before the word ends with a jump through a register. */
static bool calls_generated_code(const struct entry_search *s, uint64_t word)
{
    const uint64_t of_jumps = UINT64_C(3) << 62;
    const struct caller_cache_key key = {s->map->generation, word, of_jumps};
    struct code_frame found = {0};
    struct code_place place;
    uint64_t svma;
    if (word < CODE_LOWEST || word >= CODE_END)
        return false;
    if (caller_cache_find_frame(s->map->cache, &key, &found))
        return found.is_known;
    if (!caller_cache_may_look(s->map->cache, FUNCTION_BYTES_MAX))
        return false;
    found.is_known =
        find_call(s, word, &place, &svma) && code_image_leaves_by_register(place.image, svma);
    caller_cache_keep_frame(s->map->cache, &key, &found);
    return found.is_known;
}

/* The return address of code with an aligned SP from its entry on. Two possible places: none. */
static struct caller find_realigned(const struct entry_search *s, const struct code_entry *entry)
{
    struct caller caller = {.evidence = CALLER_NONE, .frame.is_return_address = true};
    const uint64_t least = s->sp + entry->bytes;
    uint64_t word;
    if (s->sp % entry->alignment != 0)
        return caller;
    for (uint64_t at = 0; at < entry->alignment; at += sizeof(word)) {
        if (!stack_load(s->stack, least + at, &word)) {
            caller.evidence = CALLER_BEYOND;
            return caller;
        }
        if (!calls_generated_code(s, word))
            continue;
        if (caller.evidence != CALLER_NONE)
            return (struct caller){.evidence = CALLER_NONE};
        caller.frame.regs = (struct unwind_regs){.pc = word, .sp = least + at + sizeof(word)};
        caller.evidence = CALLER_PLAUSIBLE;
    }
    return caller;
}

struct caller entered_code_caller(const struct code_map *map, const struct stack_frame *callee,
                                  const struct stack_view *stack)
{
    const struct entry_search s = {map, stack, entry_sp(map, callee)};
    struct caller caller = {.evidence = CALLER_NONE, .frame.is_return_address = true};
    struct unwind_regs *regs = &caller.frame.regs;
    struct code_frame frame;
    struct code_entry entry;
    uint64_t at = 0;
    if (map->generated && !is_of_file(map, callee) &&
        map->generated->find_entry(map->generated_context, callee->regs.pc - 1, &entry))
        return find_realigned(&s, &entry);
    for (; s.sp % sizeof(regs->pc) == 0 && at < FRAME_BYTES_MAX &&
           caller_cache_may_look(map->cache, sizeof(regs->pc));
         at += sizeof(regs->pc)) {
        if (!stack_load(stack, s.sp + at, &regs->pc) || !is_entry(&s, regs->pc, at, &frame))
            continue;
        regs->sp = s.sp + at + sizeof(regs->pc);
        caller.frame.fp_is_known =
            frame.saves_fp && stack_load(stack, s.sp + at - frame.saved_fp_return_bytes, &regs->fp);
        caller.evidence = CALLER_PLAUSIBLE;
        return caller;
    }
    if (at == FRAME_BYTES_MAX && is_of_file(map, callee) && stack->hi - s.sp < FRAME_BYTES_MAX)
        caller.evidence = CALLER_BEYOND;
    return caller;
}
