/* SPDX-License-Identifier: MIT */
#include "record/sample/stack_unwind.h"

#include "wire/atomic.h"

#include <string.h>

/* The context of find_mapping(). */
struct lookup {
    struct stack_unwinder *unwinder;
    struct stack_walk *walk;
};

/* False: requested already, or refused for lack of room a moment ago. */
static bool is_due(const struct stack_unwinder *unwinder, const struct known_module *module,
                   const bool *is_requested)
{
    return !load_acquire(is_requested) &&
           unwinder->round->now_ns >= load_relaxed(&module->pause_end_ns);
}

void stack_unwind_want_cfi(struct stack_unwinder *unwinder, struct known_module *module)
{
    if (!is_due(unwinder, module, &module->is_cfi_requested))
        return;
    store_relaxed(&module->is_cfi_requested, true);
    if (compiler_request_cfi(unwinder->compiler, module) != 0)
        store_relaxed(&module->is_cfi_requested, false);
}

static void want_rows(struct stack_unwinder *unwinder, struct known_module *module, uint64_t svma)
{
    uint64_t piece = (svma - module->base_svma) >> ROW_PIECE_SHIFT;
    if (piece >= module->piece_count || !is_due(unwinder, module, &module->is_requested[piece]))
        return;
    store_relaxed(&module->is_requested[piece], true);
    if (compiler_request_rows(unwinder->compiler, module, (uint32_t)piece) != 0)
        store_relaxed(&module->is_requested[piece], false);
}

/* The offline unwinder's question for the module at a PC. */
static bool find_mapping(void *context, uint64_t pc, struct offline_mapping *out)
{
    struct lookup *lookup = context;
    const struct process_map *map = lookup->walk->map;
    const struct process_mapping *mapping = map ? process_map_find(map, pc) : NULL;
    if (!mapping)
        return false;
    struct known_module *module = mapping->module;
    *out = (struct offline_mapping){
        .start_avma = mapping->start_avma, .end_avma = mapping->end_avma, .bias = mapping->bias};
    if (!module)
        return true;
    enum module_state state = load_acquire(&module->state);
    if (state == MODULE_UNREAD && !lookup->walk->unread)
        lookup->walk->unread = module;
    if (state == MODULE_READ)
        want_rows(lookup->unwinder, module, pc - mapping->bias);
    if (state == MODULE_NO_ROOM)
        stack_unwind_want_cfi(lookup->unwinder, module);
    out->module = state != MODULE_UNREAD ? load_acquire(&module->unwind) : NULL;
    return true;
}

struct offline_result stack_unwind(struct stack_unwinder *unwinder, struct stack_walk *walk)
{
    struct full_regs regs = {.known = walk->from->copy.known};
    memcpy(regs.value, walk->from->copy.registers, sizeof(regs.value));
    struct stack_copy_view stack;
    if (!stack_copy_view(walk->from, &unwinder->room, &stack))
        return (struct offline_result){.end = OFFLINE_CUT};
    struct lookup lookup = {.unwinder = unwinder, .walk = walk};
    const struct offline_map map = {.find = find_mapping, .context = &lookup};
    const struct offline_frames out = {.pcs = walk->frames, .max = walk->max_frames};
    return offline_unwind_in(&map, &regs, walk->is_return_address, &stack.view, &out);
}

void stack_unwinder_free(struct stack_unwinder *unwinder)
{
    buffer_free(&unwinder->room);
}
