/* SPDX-License-Identifier: MIT */
#include "convert/stack/sample_unwinder.h"

#include "base/budget.h"
#include "unwind/arch/arch.h"

#include <errno.h>
#include <stdlib.h>

/* A copy holds less than 64 KiB of stack, and a frame at least its return address. */
enum { FRAMES_MAX = 8192 };

struct lookup {
    struct modules *modules;
    const struct address_map *map;
};

static bool find(void *context, uint64_t pc, struct offline_mapping *found)
{
    const struct lookup *lookup = context;
    const struct mapping *mapping = address_map_find(lookup->map, pc);
    if (!mapping)
        return false;
    *found =
        (struct offline_mapping){.start_avma = mapping->start_avma, .end_avma = mapping->end_avma};
    found->module = modules_unwind(lookup->modules, mapping, &found->bias);
    return true;
}

static bool find_code(void *context, uint64_t avma, struct code_place *place)
{
    const struct lookup *lookup = context;
    const struct mapping *mapping = address_map_find(lookup->map, avma);
    place->image = mapping ? modules_code(lookup->modules, mapping, &place->bias) : NULL;
    return mapping;
}

int sample_unwinder_init(struct sample_unwinder *unwinder, struct modules *modules,
                         const char *machine)
{
    *unwinder = (struct sample_unwinder){
        .modules = modules,
        .machine = machine && machine[0] ? unwind_machine_of_name(machine) : unwind_machine_own(),
        .pcs = malloc(FRAMES_MAX * sizeof(*unwinder->pcs)),
        .are_return_addresses = malloc(FRAMES_MAX * sizeof(*unwinder->are_return_addresses)),
        .steps_left = budget_amount(BUDGET_STEPS),
    };
    return unwinder->pcs && unwinder->are_return_addresses ? 0 : -ENOMEM;
}

void sample_unwinder_free(struct sample_unwinder *unwinder)
{
    free(unwinder->pcs);
    free(unwinder->are_return_addresses);
    two_way_cache_free(&unwinder->cache);
    unwind_cache_free(&unwinder->walks);
    caller_cache_free(&unwinder->callers);
    *unwinder = (struct sample_unwinder){0};
}

/* A copy below the requested size is the whole stack, unless empty: then the stack's first page
 * was absent (a fault growing the stack, or an exec after unmapping the stack). */
static void count_end(struct sample_unwinder *unwinder, const struct perfdata_event *sample,
                      enum offline_end end)
{
    bool is_full = sample->user_stack_bytes == sample->user_stack_wanted_bytes;
    if (end == OFFLINE_ROOT)
        unwinder->complete++;
    else if (sample->user_stack_bytes == 0 || (end == OFFLINE_CUT && is_full))
        unwinder->truncated++;
    else
        unwinder->lost++;
}

static struct offline_result unwind(struct sample_unwinder *unwinder, struct lookup lookup,
                                    uint64_t generation, const struct full_regs *regs,
                                    const struct stack_view *stack, size_t most)
{
    const struct code_map code = {.find = find_code,
                                  .context = &lookup,
                                  .cache = &unwinder->callers,
                                  .generation = generation};
    const struct offline_map in = {.find = find,
                                   .code = &code,
                                   .context = &lookup,
                                   .cache = &unwinder->cache,
                                   .walks = &unwinder->walks,
                                   .generation = generation,
                                   .machine = unwinder->machine};
    const struct offline_frames out = {
        .pcs = unwinder->pcs, .are_return_addresses = unwinder->are_return_addresses, .max = most};
    return offline_unwind_in(&in, regs, false, stack, &out);
}

/* The kernel's frame-pointer chain lacks the caller of a leaf function without a frame, whose
 * return address is in the link register. */
uint64_t sample_unwinder_leaf_caller(struct sample_unwinder *unwinder,
                                     const struct perfdata_event *sample,
                                     const struct address_map *map, uint64_t generation,
                                     uint64_t pc)
{
    struct full_regs regs;
    const struct unwind_machine *machine = unwinder->machine;
    if (!machine || machine->link < 0 || sample->user_abi != PERFDATA_ABI_64 ||
        unwind_machine_captured(machine, &regs, sample->user_registers_mask,
                                sample->user_registers) ||
        !(regs.known >> machine->link & 1))
        return 0;
    /* Without stack bytes, a step succeeds only from registers. */
    const struct stack_view stack = {0};
    regs.value[UNWIND_DWARF_PC] = pc;
    regs.known |= 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP;
    struct lookup lookup = {unwinder->modules, map};
    return unwind(unwinder, lookup, generation, &regs, &stack, 2).frame_count == 2
               ? unwinder->pcs[1]
               : 0;
}

bool sample_unwinder_run(struct sample_unwinder *unwinder, const struct perfdata_event *sample,
                         const struct address_map *map, uint64_t generation)
{
    struct full_regs regs;
    if (!unwinder->machine || sample->user_abi != PERFDATA_ABI_64 ||
        !unwind_machine_captured(unwinder->machine, &regs, sample->user_registers_mask,
                                 sample->user_registers))
        return false;
    struct stack_view stack = {.lo = regs.value[UNWIND_DWARF_SP], .bytes = sample->user_stack};
    if (__builtin_add_overflow(stack.lo, sample->user_stack_bytes, &stack.hi))
        stack.hi = stack.lo;
    struct lookup lookup = {unwinder->modules, map};
    size_t most = unwinder->steps_left < FRAMES_MAX ? (size_t)unwinder->steps_left : FRAMES_MAX;
    struct offline_result result =
        unwind(unwinder, lookup, generation, &regs, &stack, most ? most : 1);
    /* A hostile file could make each sample a walk of FRAMES_MAX: the steps of all samples are
     * bounded. */
    unwinder->steps_left -= result.steps < most ? result.steps : most;
    unwinder->without_steps += most < FRAMES_MAX && result.end == OFFLINE_TOO_DEEP;
    unwinder->count = result.frame_count;
    unwinder->is_complete = result.end == OFFLINE_ROOT;
    unwinder->walk = result.walk;
    count_end(unwinder, sample, result.end);
    return true;
}
