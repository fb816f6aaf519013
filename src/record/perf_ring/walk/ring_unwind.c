/* SPDX-License-Identifier: MIT */
/*
 * Three sources of frames, in this order:
 *
 *     registers, copied stack ─▶ offline_unwind_in()   by CFI, else by search for the caller
 *     callchain ─▶ callchain_tail                      beyond the end of a copy
 *     callchain ─▶ vdso_tail                           behind a call of the vDSO from Go
 */
#include "record/perf_ring/walk/ring_unwind.h"

#include "record/jit/jit_code.h"
#include "record/perf_ring/walk/vdso_tail.h"
#include "record/procfs/blocked/map_lookup.h"
#include "record/sample/stack_unwind.h"

/* This far below its start the kernel maps nothing but the stack (mmap_base() in
 * arch/x86/mm/mmap.c, Linux 6.18). */
#define MAIN_STACK_BYTES (UINT64_C(128) << 20)

/* The stack of a fiber, made by the program. Of an unknown own stack the sampler's samples decide.
 */
static bool is_made_stack(const struct ring_unwinder *unwinder, const struct ring_process *process,
                          const struct ring_record *record, uint64_t sp)
{
    const pid_t pid = (pid_t)record->pid, tid = (pid_t)record->tid;
    if (tid == pid && process->stack_start_avma != 0)
        return process->stack_start_avma - sp > MAIN_STACK_BYTES;
    if (tid != pid && thread_stacks_is_known(&unwinder->stacks, pid, tid))
        return thread_stacks_is_elsewhere(&unwinder->stacks, pid, tid, sp);
    return process->has_fibers;
}

/* The walk needs bytes behind the copy. The kernel copies nothing where SP's page has no memory: in
 * a page fault, and for long in a frame reserved for callees that have not been called. */
static enum record_cut cut_of_copy(struct ring_unwinder *unwinder, const struct ring_record *record,
                                   const struct stack_view *stack)
{
    if (record->is_stack_full)
        return RECORD_CUT_STACK_COPY;
    bool is_absent =
        stack_pages_request(&unwinder->pages, (pid_t)record->pid, stack->hi, record->time_ns);
    if (is_absent)
        return RECORD_CUT_STACK_PAGE;
    return record->stack_bytes == 0 ? RECORD_CUT_STACK_COPY : RECORD_CUT_NO_CFI;
}

/* Notes the root of a complete walk, and continues a walk at the end of its copy. */
static void use_callchain(struct ring_unwinder *unwinder, struct ring_process *process,
                          const struct ring_record *record, struct walked_sample *sample)
{
    bool is_main = record->tid == record->pid;
    struct root_frames *root = &process->roots[is_main];
    struct cut_walk walk = {unwinder->frames, sample->frame_count, stack_unwind_frames_max()};
    if (sample->is_complete && !sample->is_fiber && sample->dropped == 0)
        root_frames_note(root, is_main, walk.frames, walk.count);
    const bool is_cut = sample->cut == RECORD_CUT_STACK_COPY && record->is_stack_full;
    if (sample->is_complete || !is_cut || record->stack_bytes <= RING_STACK_BYTES)
        return;
    sample->is_complete =
        callchain_tail_append(&walk, record->user_frames, record->user_count, root);
    sample->frame_count = (uint32_t)walk.count;
}

/* Whether the walk ends at this return address: at the start of a thread or goroutine. */
static bool is_root(const struct offline_map *map, uint64_t avma)
{
    enum { ROOM = 2 };
    uint64_t pcs[ROOM];
    struct offline_map uncached = *map;
    uncached.walks = NULL;
    struct full_regs regs = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
    regs.value[UNWIND_DWARF_PC] = avma;
    const struct stack_view nothing = {0};
    const struct offline_frames out = {.pcs = pcs, .max = ROOM, .leaf_max = ROOM};
    return offline_unwind_in(&uncached, &regs, true, &nothing, &out).end == OFFLINE_ROOT;
}

/* A Go function called the vDSO on another stack. */
static void use_callers_of_vdso(struct ring_unwinder *unwinder, const struct offline_map *map,
                                const struct ring_process *process,
                                const struct ring_record *record, struct walked_sample *sample)
{
    struct cut_walk walk = {unwinder->frames, sample->frame_count, stack_unwind_frames_max()};
    const size_t caller = sample->is_complete ? 0 : vdso_tail_caller(&walk, process->process.map);
    unwinder->lacks_chain = caller > 0 && record->user_count == 0;
    if (caller == 0 || !vdso_tail_append(&walk, caller, record->user_frames, record->user_count))
        return;
    sample->frame_count = (uint32_t)walk.count;
    sample->dropped = 0;
    sample->is_complete = walk.count < walk.room && is_root(map, walk.frames[walk.count - 1]);
}

/* Where the copied walk starts. False: the record has no registers of a 64-bit program. */
static bool read_start(const struct ring_record *record, struct full_regs *regs,
                       struct stack_view *stack)
{
    if (record->abi != PERF_SAMPLE_REGS_ABI_64 ||
        !unwind_machine_captured(unwind_machine_own(), regs, RING_REGISTERS, record->registers))
        return false;
    *stack = (struct stack_view){.lo = regs->value[UNWIND_DWARF_SP], .bytes = record->stack};
    if (__builtin_add_overflow(stack->lo, record->stack_bytes, &stack->hi))
        stack->hi = stack->lo;
    return true;
}

/* What a walk reads besides the record. The members point to each other. */
struct walk_map {
    struct map_lookup lookup;
    struct jit_code jit;
    struct code_map code;
    struct offline_map map;
};

static void connect(struct walk_map *walk, struct ring_unwinder *unwinder,
                    const struct ring_process *process, pid_t pid, bool is_made_stack)
{
    walk->lookup =
        (struct map_lookup){.cache = unwinder->modules->cache, .map = process->process.map};
    walk->jit = (struct jit_code){unwinder->jit, pid, process->process.map};
    walk->code = (struct code_map){.find = map_lookup_code,
                                   .context = &walk->lookup,
                                   .generated = unwinder->jit ? &jit_generated_code : NULL,
                                   .generated_context = &walk->jit,
                                   .cache = &unwinder->callers,
                                   .generation = process->map_generation,
                                   .is_made_stack = is_made_stack};
    walk->map = (struct offline_map){.find = map_lookup_mapping,
                                     .context = &walk->lookup,
                                     .cache = &unwinder->rules,
                                     .walks = &unwinder->walks,
                                     .generation = process->map_generation,
                                     .code = &walk->code};
}

/*
 * Frames, completeness and cut of the walk by CFI. A return address beyond the addresses of user
 * programs ends the stack like one outside of all mappings. On a made stack the return address of
 * the first function is mostly 0: the stack is complete there.
 */
static void take_walk(struct ring_unwinder *unwinder, const struct ring_record *record,
                      const struct stack_view *stack, const struct offline_result *result,
                      bool is_made_stack, struct walked_sample *sample)
{
    size_t count = record_user_frames(unwinder->frames, result->frame_count);
    bool is_whole = count == result->frame_count;
    bool lacks_caller = result->end == OFFLINE_NO_CALLER && is_made_stack;
    enum offline_end end = is_whole ? result->end : OFFLINE_UNMAPPED;
    unwinder->searched = result->searched;
    sample->frames = unwinder->frames;
    sample->frame_count = (uint32_t)count;
    sample->dropped = count > record_frames_leaf(stack_unwind_frames_max()) ? result->dropped : 0;
    sample->verified_from = 0;
    sample->verified_to = (uint32_t)result->verified;
    sample->is_complete = (result->end == OFFLINE_ROOT || lacks_caller) && is_whole;
    sample->is_fiber = result->root_is_in_code || lacks_caller;
    sample->cut = end == OFFLINE_CUT ? cut_of_copy(unwinder, record, stack) : stack_cut_of(end);
    if (end == OFFLINE_CUT && sample->cut == RECORD_CUT_NO_CFI)
        sample->cut = stack_cut_of(result->end_if_whole);
}

bool ring_unwind(struct ring_unwinder *unwinder, struct ring_process *process,
                 const struct ring_record *record, struct walked_sample *sample)
{
    struct full_regs regs;
    struct stack_view stack;
    struct walk_map walk;
    const uint32_t max = stack_unwind_frames_max();
    const struct offline_frames out = {
        .pcs = unwinder->frames, .max = max, .leaf_max = record_frames_leaf(max)};
    unwinder->searched = (struct offline_callers){0};
    unwinder->lacks_chain = false;
    if (!read_start(record, &regs, &stack))
        return false;
    const bool is_made = is_made_stack(unwinder, process, record, stack.lo);
    connect(&walk, unwinder, process, (pid_t)record->pid, is_made);
    const struct offline_result result = offline_unwind_in(&walk.map, &regs, false, &stack, &out);
    if (walk.lookup.is_put_off)
        ring_process_put_off_files(process, record->time_ns);
    take_walk(unwinder, record, &stack, &result, is_made, sample);
    const bool has_frames = sample->frame_count > 0;
    use_callchain(unwinder, process, record, sample);
    use_callers_of_vdso(unwinder, &walk.map, process, record, sample);
    return has_frames;
}

void ring_unwinder_free(struct ring_unwinder *unwinder)
{
    two_way_cache_free(&unwinder->rules);
    unwind_cache_free(&unwinder->walks);
    caller_cache_free(&unwinder->callers);
    stack_pages_close(&unwinder->pages);
    two_way_cache_free(&unwinder->stacks.known);
}
