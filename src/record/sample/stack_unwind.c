/* SPDX-License-Identifier: MIT */
/*
 * A walk has two kinds of lookups, both in the process's map. Each lookup may order the tables of
 * the next walk; orders go to the compiler thread and never block the collector:
 *
 *     find_mapping(pc)    module UNREAD    ─▶ walk->unread: the sample waits for the CFI
 *                         module READ      ─▶ rows of this piece, for the sampler's next walks
 *                         module NO_ROOM   ─▶ the CFI once more, after the pause
 *     find_code(address)  code UNREAD      ─▶ walk->unread: the sample waits for the machine code
 *                         code NO_ROOM     ─▶ the code once more, after the pause
 *
 * The flags is_…_requested keep orders from being repeated: set here, cleared by the compiler for
 * lack of room.
 */
#include "record/sample/stack_unwind.h"

#include "base/budget.h"
#include "record/jit/jit_code.h"
#include "unwind/code/call_target.h"
#include "wire/atomic.h"

#include <string.h>

/* The context of find_mapping(). */
struct lookup {
    struct stack_unwinder *unwinder;
    struct stack_walk *walk;
};

/* False: requested already, or refused for lack of room or time a moment ago. */
static bool is_due(const struct stack_unwinder *unwinder, const struct known_module *module,
                   const bool *is_requested)
{
    return !load_acquire(is_requested) &&
           unwinder->round->now_ns >= load_relaxed(&module->pause_end_ns);
}

static void request_cfi(struct stack_unwinder *unwinder, struct known_module *module)
{
    if (!is_due(unwinder, module, &module->is_cfi_requested))
        return;
    store_relaxed(&module->is_cfi_requested, true);
    if (compiler_request_cfi(unwinder->compiler, module) != 0)
        store_relaxed(&module->is_cfi_requested, false);
}

static void request_code(struct stack_unwinder *unwinder, struct known_module *module)
{
    if (!is_due(unwinder, module, &module->is_code_requested))
        return;
    store_relaxed(&module->is_code_requested, true);
    if (compiler_request_code(unwinder->compiler, module) != 0)
        store_relaxed(&module->is_code_requested, false);
}

void stack_unwind_want(struct stack_unwinder *unwinder, const struct stack_walk *walk)
{
    if (walk->needs_code)
        request_code(unwinder, walk->unread);
    else
        request_cfi(unwinder, walk->unread);
}

static void request_rows(struct stack_unwinder *unwinder, struct known_module *module,
                         uint64_t svma)
{
    uint64_t piece = (svma - module->base_svma) >> ROW_PIECE_SHIFT;
    if (piece >= module->piece_count || !is_due(unwinder, module, &module->is_requested[piece]))
        return;
    store_relaxed(&module->is_requested[piece], true);
    if (compiler_request_rows(unwinder->compiler, module, (uint32_t)piece) != 0)
        store_relaxed(&module->is_requested[piece], false);
}

static void note_unread(struct stack_walk *walk, struct known_module *module, bool needs_code)
{
    if (walk->unread)
        return;
    walk->unread = module;
    walk->needs_code = needs_code;
}

/* The offline unwinder's question for the module at a PC. */
static bool find_mapping(void *context, uint64_t pc, struct offline_mapping *out)
{
    struct lookup *lookup = context;
    const struct process_map *map = lookup->walk->map;
    const struct process_mapping *mapping = map ? process_map_find(map, pc) : NULL;
    if (!mapping)
        return false;
    lookup->walk->awaits_file |= mapping->awaits_file;
    struct known_module *module = mapping->module;
    *out = (struct offline_mapping){
        .start_avma = mapping->start_avma, .end_avma = mapping->end_avma, .bias = mapping->bias};
    if (!module)
        return true;
    enum module_state state = load_acquire(&module->state);
    if (state == MODULE_UNREAD)
        note_unread(lookup->walk, module, false);
    if (state == MODULE_READ)
        request_rows(lookup->unwinder, module, pc - mapping->bias);
    if (state == MODULE_NO_ROOM)
        request_cfi(lookup->unwinder, module);
    out->module = state != MODULE_UNREAD ? load_acquire(&module->unwind) : NULL;
    return true;
}

/* The caller search's question for the code at an address. */
static bool find_code(void *context, uint64_t avma, struct code_place *place)
{
    struct lookup *lookup = context;
    const struct process_map *map = lookup->walk->map;
    const struct process_mapping *mapping = map ? process_map_find(map, avma) : NULL;
    *place = (struct code_place){0};
    if (!mapping)
        return false;
    struct known_module *module = mapping->module;
    if (!module || module->is_go)
        return true;
    if (load_acquire(&module->state) == MODULE_UNREAD) {
        note_unread(lookup->walk, module, false);
        return false;
    }
    enum module_state state = load_acquire(&module->code_state);
    if (state == MODULE_UNREAD) {
        note_unread(lookup->walk, module, true);
        return false;
    }
    if (state == MODULE_NO_ROOM)
        request_code(lookup->unwinder, module);
    *place = (struct code_place){state == MODULE_READ ? module->code : NULL, mapping->bias};
    return true;
}

/* Whether a walk may start at the word as a return address. Unread code: the stack is walked again.
 * Code that cannot be read has no evidence against the word. */
static bool is_start(const struct offline_map *map, uint64_t word)
{
    struct offline_mapping mapping;
    struct code_place place;
    if (!map->find(map->context, word - 1, &mapping) || !mapping.module ||
        !map->code->find(map->code->context, word - 1, &place))
        return false;
    return !place.image || code_place_is_returned_to(&place, word - place.bias);
}

/* The root part of a stack without a copy of its middle: from the lowest return address in the root
 * bytes from which a walk reaches the root. Returns the number of frames; 0: none. */
static size_t find_root_part(const struct offline_map *map, const struct stack_view *root,
                             const struct offline_frames *out)
{
    /* Each try is a walk; a stack with more code addresses than this in front of a real chain is
     * left truncated. */
    enum { TRIES_MAX = 32 };
    struct full_regs regs = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
    uint64_t *pc = &regs.value[UNWIND_DWARF_PC], at = root->lo;
    for (int tries = 0; tries < TRIES_MAX && stack_load(root, at, pc); at += sizeof(*pc)) {
        if (!is_start(map, *pc))
            continue;
        tries++;
        regs.value[UNWIND_DWARF_SP] = at + sizeof(*pc);
        struct offline_result result = offline_unwind_in(map, &regs, true, root, out);
        if (result.end == OFFLINE_ROOT)
            return result.frame_count;
    }
    return 0;
}

/* Replaces the frames behind the leaf part of a walk that ended at the hole of the copy. */
static void take_root_part(const struct offline_map *map, const struct stack_view *root,
                           const struct offline_frames *out, struct offline_result *result)
{
    const size_t walked = result->frame_count + result->dropped, leaf = out->leaf_max;
    const struct offline_frames behind = {.pcs = out->pcs + leaf, .max = out->max - leaf};
    if (result->end != OFFLINE_CUT || walked < leaf)
        return;
    const size_t found = find_root_part(map, root, &behind);
    result->frame_count = leaf + found;
    result->dropped = found ? walked - leaf + 1 : 0; /* at least */
    result->end = found ? OFFLINE_ROOT : OFFLINE_CUT;
}

/* A module read since may change the result of a search. */
static uint64_t generation_of(const struct stack_unwinder *unwinder, const struct process_map *map)
{
    /* Without a map of the compiler nothing is cached: results could be taken for another map's. */
    if (!map || map->number == 0)
        return 0;
    uint64_t read = compiler_modules_read(unwinder->compiler);
    return read << 32 | (map->number & UINT32_MAX);
}

uint32_t stack_unwind_frames_max(void)
{
    return (uint32_t)budget_amount(BUDGET_FRAMES);
}

struct offline_result stack_unwind(struct stack_unwinder *unwinder, struct stack_walk *walk)
{
    struct full_regs regs = {.known = walk->from->copy.known};
    memcpy(regs.value, walk->from->copy.registers, sizeof(regs.value));
    struct stack_copy_view stack;
    if (!stack_copy_view(walk->from, &unwinder->room, &stack))
        return (struct offline_result){.end = OFFLINE_CUT, .end_if_whole = OFFLINE_CUT};
    struct lookup lookup = {.unwinder = unwinder, .walk = walk};
    const uint64_t generation = generation_of(unwinder, walk->map);
    struct jit_code jit = {unwinder->jit, walk->pid, walk->map};
    const struct code_map code = {.find = find_code,
                                  .context = &lookup,
                                  .generated = unwinder->jit ? &jit_generated_code : NULL,
                                  .generated_context = &jit,
                                  .cache = generation ? &unwinder->callers : NULL,
                                  .generation = generation,
                                  .is_made_stack = walk->from->copy.is_foreign};
    const struct offline_map map = {.find = find_mapping, .context = &lookup, .code = &code};
    const uint32_t max = stack_unwind_frames_max();
    const struct offline_frames out = {
        .pcs = walk->frames, .max = max, .leaf_max = record_frames_leaf(max)};
    bool is_return_address =
        walk->from->header.kind == RECORD_COPY && walk->from->stack.frame_count > 0;
    struct offline_result result =
        offline_unwind_in(&map, &regs, is_return_address, &stack.view, &out);
    if (!stack_copy_is_whole(walk->from) && walk->from->stack.frame_count == 0)
        take_root_part(&map, &stack.root, &out, &result);
    return result;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* In place: frames of the result move outwards, the outermost first. */
void stack_unwind_join(const struct stack_copy *from, uint64_t frames[RECORD_FRAMES_MAX],
                       struct offline_result *result)
{
    const size_t inner = from->stack.frame_count, outer = result->frame_count;
    const uint32_t max = stack_unwind_frames_max();
    const size_t kept = least(inner + outer, max);
    result->dropped += inner + outer - kept + from->stack.dropped;
    result->frame_count = kept;
    const size_t leaf = result->dropped ? least(kept, record_frames_leaf(max)) : kept;
    const size_t inner_leaf = least(inner, leaf);
    for (size_t i = kept; i-- > inner_leaf;) {
        size_t from_root = kept - 1 - i;
        if (i < leaf)
            frames[i] = frames[i - inner_leaf];
        else if (from_root < outer)
            frames[i] = frames[outer - 1 - from_root];
        else
            frames[i] = from->frames[inner + outer - 1 - from_root];
    }
    memcpy(frames, from->frames, 8 * inner_leaf);
}

void stack_unwinder_free(struct stack_unwinder *unwinder)
{
    buffer_free(&unwinder->room);
    caller_cache_free(&unwinder->callers);
}

enum record_cut stack_cut_of(enum offline_end end)
{
    switch (end) {
    case OFFLINE_UNMAPPED:
    case OFFLINE_NO_CALLER:
        return RECORD_CUT_UNMAPPED;
    case OFFLINE_TOO_DEEP:
        return RECORD_CUT_DEEP;
    case OFFLINE_GUESS:
        return RECORD_CUT_GUESS;
    case OFFLINE_SIGNAL:
        return RECORD_CUT_SIGNAL;
    case OFFLINE_CUT:
    case OFFLINE_ROOT:
    case OFFLINE_NO_CFI:
    case OFFLINE_NO_CODE:
    case OFFLINE_NO_FP:
        break;
    }
    return RECORD_CUT_NO_CFI;
}
