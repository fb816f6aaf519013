/* SPDX-License-Identifier: MIT */
/*
 * Rows first: they need only PC, SP and FP, and are fast. When a frame turns out to be complex, its
 * rules may need any register, so the frames since the last full set of registers are stepped once
 * more with the full evaluator, which follows them all:
 *
 *     frame    0      1      2      3 (complex)   4      5
 *     rows     ──────▶──────▶──────▶              ──────▶──────▶
 *     full     ═══════▶══════▶══════▶══════════════▶
 */
#include "unwind/offline.h"

#include "base/containers/array.h"
#include "unwind/arch/arch.h"
#include "unwind/module.h"

struct stack_walk {
    const struct offline_map *map;
    const struct stack_view *stack;
    struct unwind_regs regs; /* of the frame reached */
    bool is_return_address;
    struct full_regs full; /* of an earlier frame, or the same */
    bool full_is_return_address;
    size_t behind; /* how many frames earlier */
    bool has_lost_sp;
    bool leads_nowhere; /* the last frame pointer, as far as the map knows */
};

/* A frame pointer tells of SP in its caller no more than that it lies above, where there may be room between
 * the two. Then only frame pointers lead on. */
static bool keeps_sp(const struct stack_walk *walk)
{
    return !walk->map->machine || !walk->map->machine->registers;
}

static uint64_t code_address(const struct stack_walk *walk, uint64_t pc)
{
    return walk->map->machine ? pc & walk->map->machine->code_mask : pc;
}

/* What holds at a PC. Large programs have half a million rows. */
struct offline_place {
    struct two_way_cache_key key;
    const struct unwind_module *module; /* NULL: no CFI */
    uint64_t bias;
    uint32_t rule;
};
enum { PLACES_MOST = 1 << 15 };

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

/* False: nothing is mapped there. */
static bool find_place(const struct stack_walk *walk, uint64_t pc, struct offline_place *place)
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

static bool is_mapped(const struct stack_walk *walk, uint64_t return_pc)
{
    struct offline_place place;
    return find_place(walk, unwind_lookup_pc(return_pc, true), &place);
}

static struct unwind_regs narrow(const struct full_regs *full)
{
    bool has_fp = full->known >> UNWIND_DWARF_FP & 1;
    return (struct unwind_regs){
        .pc = full->value[UNWIND_DWARF_PC],
        .sp = full->value[UNWIND_DWARF_SP],
        .fp = has_fp ? full->value[UNWIND_DWARF_FP] : 0,
    };
}

/* A step without CFI. It is a guess, so it has to lead to code. */
static enum unwind_result step_by_frame_pointer(struct stack_walk *walk, struct unwind_regs *regs)
{
    struct unwind_regs caller = *regs;
    if (unwind_frame_pointer(&caller, walk->stack) != UNWIND_OK)
        return UNWIND_NO_ROW;
    caller.pc = code_address(walk, caller.pc);
    walk->leads_nowhere = !is_mapped(walk, caller.pc);
    if (walk->leads_nowhere)
        return UNWIND_NO_ROW;
    *regs = caller;
    walk->has_lost_sp = !keeps_sp(walk);
    return UNWIND_OK;
}

static enum unwind_result step_by_row(struct stack_walk *walk, const struct offline_place *place,
                                      struct unwind_regs *regs, bool *is_signal_frame)
{
    enum unwind_result result = UNWIND_NO_ROW;
    *is_signal_frame = row_kind(place->rule) == ROW_SIGNAL;
    if (!walk->has_lost_sp || row_kind(place->rule) == ROW_END)
        result = unwind_apply(place->rule, regs, walk->stack);
    return result == UNWIND_NO_ROW ? step_by_frame_pointer(walk, regs) : result;
}

/* Around clone()'s system call, where the code before it has the same frame. */
static enum unwind_result step_in_clone(const struct stack_walk *walk, uint32_t rule,
                                        struct full_regs *full)
{
    struct unwind_regs regs = narrow(full);
    uint32_t reg = row_register(rule);
    if (!(full->known >> reg & 1))
        return UNWIND_COMPLEX;
    enum unwind_result result = unwind_apply_register(rule, full->value[reg], &regs, walk->stack);
    full->value[UNWIND_DWARF_PC] = regs.pc;
    full->value[UNWIND_DWARF_SP] = regs.sp;
    return result;
}

/* The same step for all registers. Code without CFI keeps none that we could know of but FP. */
static enum unwind_result step_full(struct stack_walk *walk, struct full_regs *full,
                                    bool *is_return_address)
{
    uint64_t lookup_pc = unwind_lookup_pc(full->value[UNWIND_DWARF_PC], *is_return_address);
    struct offline_place place;
    bool is_found = find_place(walk, lookup_pc, &place);
    bool is_signal_frame = false;
    enum unwind_result result = UNWIND_NO_ROW;
    if (is_found && place.module)
        result = unwind_module_step(place.module, lookup_pc - place.bias, full, walk->stack,
                                    &is_signal_frame);
    if (result == UNWIND_NO_ROW && is_found && row_kind(place.rule) == ROW_CLONE) {
        result = step_in_clone(walk, place.rule, full);
    } else if (result == UNWIND_NO_ROW && is_found) {
        struct unwind_regs regs = narrow(full);
        result = step_by_row(walk, &place, &regs, &is_signal_frame);
        if (result == UNWIND_OK) {
            *full = (struct full_regs){.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP |
                                                1u << UNWIND_DWARF_FP};
            full->value[UNWIND_DWARF_PC] = regs.pc;
            full->value[UNWIND_DWARF_SP] = regs.sp;
            full->value[UNWIND_DWARF_FP] = regs.fp;
        }
    }
    full->value[UNWIND_DWARF_PC] = code_address(walk, full->value[UNWIND_DWARF_PC]);
    *is_return_address = !is_signal_frame;
    return result;
}

/* A complex frame: all its registers first, then the step itself. */
static enum unwind_result step_complex(struct stack_walk *walk)
{
    enum unwind_result result = UNWIND_OK;
    for (; walk->behind > 0 && result == UNWIND_OK; walk->behind--)
        result = step_full(walk, &walk->full, &walk->full_is_return_address);
    if (result == UNWIND_OK)
        result = step_full(walk, &walk->full, &walk->full_is_return_address);
    walk->regs = narrow(&walk->full);
    walk->is_return_address = walk->full_is_return_address;
    return result;
}

static enum unwind_result step(struct stack_walk *walk, const struct offline_place *place)
{
    bool is_signal_frame;
    struct unwind_cache *walks = walk->map->walks;
    struct unwind_regs callee = walk->regs;
    enum unwind_result result = step_by_row(walk, place, &walk->regs, &is_signal_frame);
    /* A row that fails in the innermost frame may want FP from below SP, see was_popped(). */
    if (result == UNWIND_COMPLEX || (result == UNWIND_OFF_STACK && walk->behind == 0)) {
        if (walks)
            unwind_cache_other_step(walks);
        return step_complex(walk);
    }
    if (walks && result == UNWIND_OK)
        unwind_cache_step(walks, place->rule, &callee, &walk->regs);
    walk->is_return_address = !is_signal_frame;
    walk->behind++;
    return result;
}

static void put_frame(const struct offline_frames *frames, size_t index,
                      const struct stack_walk *walk)
{
    frames->pcs[index] = walk->regs.pc;
    if (frames->are_return_addresses)
        frames->are_return_addresses[index] = walk->is_return_address;
}

static struct cached_frame frame_of(const struct stack_walk *walk)
{
    return (struct cached_frame){.regs = walk->regs,
                                 .generation = walk->map->generation,
                                 .is_return_address = walk->is_return_address};
}

/* The walk from a frame on, if it is known and there is room for its frames. */
static struct cached_walk *find_known(const struct stack_walk *walk,
                                      const struct offline_frames *frames, size_t at)
{
    const struct unwind_cache *walks = walk->map->walks;
    const struct cached_frame frame = frame_of(walk);
    if (!walks || at >= UNWIND_CACHE_FRAMES || walk->has_lost_sp)
        return NULL;
    struct cached_walk *known = unwind_cache_find(walks, &frame, walk->stack);
    return known && known->count < frames->max - at ? known : NULL;
}

/* Its frames up to the root. How many there are then. */
static size_t put_known(const struct stack_walk *walk, const struct cached_walk *known,
                        const struct offline_frames *frames, size_t at)
{
    put_frame(frames, at++, walk);
    for (uint32_t number = known->first; number;) {
        const struct cached_step *step = &walk->map->walks->steps[number - 1];
        frames->pcs[at] = step->caller.pc;
        if (frames->are_return_addresses)
            frames->are_return_addresses[at] = true;
        at++;
        number = step->next;
    }
    return at;
}

static struct cached_walk *keep(const struct stack_walk *walk, const struct cached_frame *first,
                                const struct cached_walk *joined)
{
    return walk->map->walks ? unwind_cache_keep(walk->map->walks, first, joined) : NULL;
}

static enum offline_end end_of(const struct stack_walk *walk, enum unwind_result result)
{
    switch (result) {
    case UNWIND_END:
        return OFFLINE_ROOT;
    case UNWIND_OFF_STACK:
        return OFFLINE_CUT;
    default: /* complex here: needs what nobody knows */
        return walk->leads_nowhere ? OFFLINE_NO_CODE : OFFLINE_NO_CFI;
    }
}

struct offline_result offline_unwind_in(const struct offline_map *map, const struct full_regs *regs,
                                        bool first_is_return_address,
                                        const struct stack_view *stack,
                                        const struct offline_frames *frames)
{
    struct stack_walk walk = {
        .map = map,
        .stack = stack,
        .regs = narrow(regs),
        .is_return_address = first_is_return_address,
        .full = *regs,
        .full_is_return_address = first_is_return_address,
    };
    const struct cached_frame first = frame_of(&walk);
    if (map->walks)
        unwind_cache_begin(map->walks);
    for (size_t count = 0; count < frames->max; count++) {
        struct cached_walk *known = find_known(&walk, frames, count);
        if (known) {
            size_t all = put_known(&walk, known, frames, count);
            return (struct offline_result){all, OFFLINE_ROOT,
                                           count ? keep(&walk, &first, known) : known};
        }
        uint64_t lookup_pc = unwind_lookup_pc(walk.regs.pc, walk.is_return_address);
        struct offline_place place;
        bool is_found = find_place(&walk, lookup_pc, &place);
        /* A caller that is no code is no frame; the innermost PC is what was sampled. */
        if (is_found || count == 0)
            put_frame(frames, count, &walk);
        if (!is_found)
            return (struct offline_result){count ? count : 1, OFFLINE_UNMAPPED, NULL};
        enum unwind_result result = step(&walk, &place);
        if (result != UNWIND_OK)
            return (struct offline_result){count + 1, end_of(&walk, result),
                                           result == UNWIND_END ? keep(&walk, &first, NULL) : NULL};
    }
    return (struct offline_result){frames->max, OFFLINE_TOO_DEEP, NULL};
}

struct sorted_mappings {
    const struct offline_mapping *mappings;
    size_t count;
};

static bool find_sorted(void *context, uint64_t pc, struct offline_mapping *mapping)
{
    const struct sorted_mappings *sorted = context;
    size_t low = ARRAY_COUNT_UP_TO(sorted->mappings, sorted->count, start_avma, pc);
    if (low == 0 || pc >= sorted->mappings[low - 1].end_avma)
        return false;
    *mapping = sorted->mappings[low - 1];
    return true;
}

struct offline_result offline_unwind(const struct offline_mapping *mappings, size_t mapping_count,
                                     const struct full_regs *regs, bool first_is_return_address,
                                     const struct stack_view *stack, uint64_t *frames,
                                     size_t max_frames)
{
    struct sorted_mappings sorted = {mappings, mapping_count};
    const struct offline_map map = {.find = find_sorted, .context = &sorted};
    const struct offline_frames out = {.pcs = frames, .max = max_frames};
    return offline_unwind_in(&map, regs, first_is_return_address, stack, &out);
}
