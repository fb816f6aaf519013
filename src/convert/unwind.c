/* SPDX-License-Identifier: MIT */
#include "convert/unwind.h"

#include "unwind/captured.h"
#include "unwind/offline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int unwinder_init(struct unwinder *unwinder, struct modules *modules, const char *machine)
{
    *unwinder = (struct unwinder){
        .modules = modules,
        .is_of_this_machine =
            !machine || machine[0] == '\0' || strcmp(machine, captured_machine) == 0,
        .pcs = malloc(FRAMES_MAX * sizeof(*unwinder->pcs)),
        .are_return_addresses = malloc(FRAMES_MAX * sizeof(*unwinder->are_return_addresses)),
    };
    return unwinder->pcs && unwinder->are_return_addresses ? 0 : -ENOMEM;
}

void unwinder_free(struct unwinder *unwinder)
{
    free(unwinder->pcs);
    free(unwinder->are_return_addresses);
    *unwinder = (struct unwinder){0};
}

/* Less than what was asked for is the whole stack, unless its first page was not there yet (a fault that
 * makes the stack grow): then it is nothing. */
static bool copy_may_be_short(const struct perfdata_event *sample)
{
    return sample->user_stack_bytes == sample->user_stack_wanted_bytes ||
           sample->user_stack_bytes == 0;
}

bool unwinder_run(struct unwinder *unwinder, const struct perfdata_event *sample,
                  const struct address_map *map)
{
    struct full_regs regs;
    if (!unwinder->is_of_this_machine || sample->user_abi != PERFDATA_ABI_64 ||
        !captured_regs(&regs, sample->user_registers_mask, sample->user_registers))
        return false;
    struct stack_view stack = {.lo = regs.value[UNWIND_DWARF_SP], .bytes = sample->user_stack};
    if (__builtin_add_overflow(stack.lo, sample->user_stack_bytes, &stack.hi))
        stack.hi = stack.lo;
    struct lookup lookup = {unwinder->modules, map};
    const struct offline_map in = {.find = find, .context = &lookup};
    const struct offline_frames out = {.pcs = unwinder->pcs,
                                       .are_return_addresses = unwinder->are_return_addresses,
                                       .max = FRAMES_MAX};
    struct offline_result result = offline_unwind_in(&in, &regs, false, &stack, &out);
    unwinder->count = result.frame_count;
    unwinder->is_complete = result.end == OFFLINE_ROOT;
    bool is_cut = result.end == OFFLINE_CUT && copy_may_be_short(sample);
    unwinder->complete += unwinder->is_complete;
    unwinder->cut += is_cut;
    unwinder->lost += !unwinder->is_complete && !is_cut;
    return true;
}
