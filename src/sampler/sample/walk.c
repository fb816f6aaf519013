/* SPDX-License-Identifier: MIT */
/*
 * From the interrupted registers to the thread's root, a row at a time, into a record reserved in
 * the ring before the walk.
 *
 *     frames   ┌───────── leaf part: three quarters ────┬─ root part, circular ──────┐
 *              │ PC, return addresses …                 │ the last ones seen         │
 *              └────────────────────────────────────────┴────────────────────────────┘
 *
 * A stack without a row for a PC is copied and finished by the launcher: stack_copy.c.
 */
#include "sampler/sample/walk.h"

#include "sampler/arch/arch.h"
#include "sampler/sample/stack_copy.h"
#include "sampler/sample/stack_record.h"

#define PAGE_MASK UINT64_C(4095)
#define CONTEXT_ROOT_BYTES 64
/* The kernel wrote the end of the signal's frame at most so far below SP: red zone, alignment,
 * slack. */
#define WRITTEN_BYTES 256
/* No frame pointer is a frame of this size away: the register holds something else. */
#define FOREIGN_FRAME_BYTES (UINT64_C(1) << 20)
/* Per map and thread. */
#define ASTRAY_COPIES_MAX 64
/* A forked child has a copy of the parent's cache, with tags of the parent's maps. This step keeps
 * the tags of 100 joins more than 2^24 maps apart (2^32 divided by the golden ratio). */
#define JOIN_STEP UINT32_C(0x9E3779B1)

static bool is_within(const stack_t *stack, uint64_t sp)
{
    uint64_t start = (uint64_t)(uintptr_t)stack->ss_sp;
    return !(stack->ss_flags & SS_DISABLE) && sp >= start && sp - start < stack->ss_size;
}

/* The stack that holds SP: the thread's own, the alternate one named by the kernel, the one
 * given to makecontext(); else a coroutine's. Of a coroutine's stack only the page at SP is
 * certain to be mapped, because the kernel has just written the signal's frame there. A list of
 * mappings would be older than the sample, and a read of an unmapped page would kill the
 * program. */
static bool choose_stack(struct walk *walk)
{
    const struct thread_state *thread = walk->thread;
    uint64_t sp = walk->regs.sp;
    uint64_t start = thread->stack_start_avma, end = thread->stack_end_avma;
    walk->is_foreign = walk->is_context = false;
    if (sp < start || sp >= end) {
        const stack_t *stack = &walk->context->uc_stack;
        for (int i = 0; i < 2 && !is_within(stack, sp); i++)
            stack = &thread->context_stacks[i];
        walk->is_foreign = !is_within(stack, sp);
        walk->is_context = !walk->is_foreign && stack != &walk->context->uc_stack;
        start = walk->is_foreign ? sp & ~PAGE_MASK : (uint64_t)(uintptr_t)stack->ss_sp;
        end = walk->is_foreign ? start + PAGE_MASK + 1 : start + stack->ss_size;
        if (walk->is_foreign && sp - start < WRITTEN_BYTES)
            return false;
    }
    uint64_t lowest = sp - ARCH_RED_ZONE;
    walk->stack.lo = lowest < start ? start : lowest;
    walk->stack.hi = end & ~UINT64_C(7);
    walk->stack.bytes = (const uint8_t *)(uintptr_t)walk->stack.lo;
    return true;
}

/* The rule of a PC; false without a module, or before its rows are compiled. */
static bool find_rule(struct walk *walk, uint64_t pc, uint32_t *rule)
{
    struct rule_cache_entry *entry = &walk->thread->cache[(pc ^ pc >> 8) % SAMPLER_CACHE_ENTRIES];
    if (entry->pc == pc && entry->map == walk->map_tag) {
        *rule = entry->rule;
        return true;
    }
    const struct wire_module *module = unwind_find_module(walk->modules, walk->module_count, pc);
    if (!module || load_relaxed(&module->flags) & WIRE_MODULE_UNREAD)
        return false;
    /* Each word once: the launcher may overwrite an old map meanwhile, found too late by
     * walk_once(). */
    uint64_t first = load_relaxed(&module->index_first);
    struct row_table table = {.rows = process.tables->rows,
                              .row_count = SESSION_ROWS,
                              .bucket_count = load_relaxed(&module->bucket_count),
                              .bucket_shift = load_relaxed(&module->bucket_shift)};
    uint64_t relative = pc - load_relaxed(&module->base_avma);
    *rule = row_rule(ROW_NONE, 0, 0);
    if (relative <= UINT32_MAX && first + table.bucket_count <= SESSION_ROWS) {
        table.buckets = (const uint64_t *)(const void *)(table.rows + first);
        if (!unwind_find_in_table(&table, (uint32_t)relative, rule))
            return false;
    }
    /* Rows of code without CFI may come later, into the same map. */
    if (row_kind(*rule) != ROW_NONE)
        *entry = (struct rule_cache_entry){.pc = pc, .rule = *rule, .map = walk->map_tag};
    return true;
}

static void push_frame(struct walk *walk, uint64_t pc)
{
    uint32_t n = walk->frame_count++;
    if (n >= walk->frames_max) {
        uint32_t leaf = record_frames_leaf(walk->frames_max);
        n = leaf + (n - leaf) % (walk->frames_max - leaf);
    }
    walk->frames[n] = pc;
}

/* The frame pointer leads to no code of the map. The code may be newer than the map, as code
 * generated at run time is. But the register may also hold any other value, in every sample: so
 * the number of copies is limited. */
static enum walk_end end_astray(const struct walk *walk)
{
    struct thread_state *thread = walk->thread;
    if (thread->astray_map != walk->map_tag)
        thread->astray = 0;
    thread->astray_map = walk->map_tag;
    return thread->astray++ < ASTRAY_COPIES_MAX ? WALK_UNKNOWN : WALK_NO_CFI;
}

static bool is_searched(const struct walk *walk)
{
    uint64_t pc = unwind_lookup_pc(walk->regs.pc, walk->is_return_address);
    const struct wire_module *module = unwind_find_module(walk->modules, walk->module_count, pc);
    return module && load_relaxed(&module->flags) & WIRE_MODULE_SEARCHED;
}

/* Whether FP may be the caller's: before a function saves FP and behind the restoration, its return
 * address is at SP, and before it sets FP at SP + 8. The launcher judges by the code: a read here
 * could fault, if the code may only be executed. */
static bool may_be_outside_frame(const struct walk *walk)
{
    bool may_be = false;
    for (uint64_t i = 0; walk->frame_count == 1 && i < 2; i++) {
        uint64_t at = walk->regs.sp + 8 * i, word;
        may_be |= at != walk->regs.fp + 8 && stack_load(&walk->stack, at, &word) &&
                  unwind_find_module(walk->modules, walk->module_count, word - 1);
    }
    return may_be;
}

/* Code without CFI: follow a frame pointer to code. On a stack with only one page certain, the
 * frame pointer may lead to the next page (SBCL runs its program on such a stack). */
static enum walk_end step_without_cfi(struct walk *walk, uint32_t rule)
{
    struct unwind_regs caller = walk->regs;
    if (row_kind(rule) == ROW_SEARCH || is_searched(walk))
        return WALK_SEARCH;
    if (walk->is_foreign && caller.fp - (walk->stack.hi - 8) < FOREIGN_FRAME_BYTES)
        return WALK_FOREIGN;
    if (unwind_frame_pointer(&caller, &walk->stack) != UNWIND_OK) /* Erlang has return addresses */
        return walk->is_foreign ? WALK_SEARCH : WALK_NO_CFI;
    if (!unwind_find_module(walk->modules, walk->module_count, caller.pc - 1))
        return end_astray(walk);
    bool may_be_first = walk->is_foreign && caller.fp == 0; /* of a coroutine */
    if (may_be_first || may_be_outside_frame(walk))
        return WALK_SEARCH;
    walk->regs = caller;
    return WALK_ENDS;
}

/* The return address of a makecontext() function has no CFI in glibc. It is the stack's root:
 * only the next context and arguments lie above. No call instruction precedes the address. */
static bool is_context_root(const struct walk *walk)
{
    if (!walk->is_context || !walk->is_return_address ||
        walk->stack.hi - walk->regs.sp > CONTEXT_ROOT_BYTES ||
        walk->frame_count > record_frames_leaf(walk->frames_max))
        return false;
    walk->frames[walk->frame_count - 1] = walk->regs.pc + 1;
    return true;
}

/* A rule beyond unwind_apply(), unless the CFA is in a general register. The walk does not restore
 * these registers, so the interrupted value must still be valid: any register in the innermost
 * frame, and the registers not saved by callees also in its caller (ciphers keep the old SP in rax
 * across calls of their own helpers). */
static enum unwind_result apply_register(struct walk *walk, uint32_t rule)
{
    uint32_t reg = row_register(rule);
    uint32_t frames_below = walk->frame_count - 1;
    if (!row_needs_register(rule) || frames_below > 1 ||
        (frames_below == 1 && arch_is_callee_saved(reg)))
        return UNWIND_COMPLEX;
    return unwind_apply_register(rule, arch_dwarf_register(walk->context, reg), &walk->regs,
                                 &walk->stack);
}

/* A single step; WALK_ENDS: continue. */
static enum walk_end step(struct walk *walk)
{
    uint32_t rule;
    enum walk_end end;
    if (!find_rule(walk, unwind_lookup_pc(walk->regs.pc, walk->is_return_address), &rule))
        return WALK_UNKNOWN;
    enum unwind_result result = unwind_apply(rule, &walk->regs, &walk->stack);
    if (result == UNWIND_COMPLEX)
        result = apply_register(walk, rule);
    switch (result) {
    case UNWIND_OK:
        break;
    case UNWIND_END:
        return walk->is_foreign ? WALK_FIBER : WALK_ROOT;
    case UNWIND_COMPLEX:
        return WALK_COMPLEX;
    case UNWIND_NO_ROW:
        if (is_context_root(walk))
            return WALK_ROOT;
        end = step_without_cfi(walk, rule);
        if (end != WALK_ENDS)
            return end;
        break;
    case UNWIND_OFF_STACK:
        return walk->is_foreign ? WALK_FOREIGN : WALK_OFF_STACK;
    }
    if (walk->regs.pc == 0 && walk->is_foreign) /* how most libraries begin a coroutine's stack */
        return WALK_FIBER;
    walk->is_return_address = row_kind(rule) != ROW_SIGNAL;
    /* A handler on the alternate stack was entered from another stack. */
    if (!walk->is_return_address && (!choose_stack(walk) || walk->is_foreign))
        return WALK_FOREIGN;
    return WALK_ENDS;
}

static enum walk_end walk_frames(struct walk *walk)
{
    enum walk_end end = WALK_ENDS;
    while (end == WALK_ENDS) {
        if (walk->frame_count >= SAMPLER_WORDS_MAX)
            return WALK_TOO_LONG;
        /* Readers subtract 1 from each caller's address; an interrupted PC is no return address. */
        bool is_interrupted_caller = !walk->is_return_address && walk->frame_count > 0;
        push_frame(walk, walk->regs.pc + is_interrupted_caller);
        end = step(walk);
    }
    return end;
}

static void reverse(uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint64_t word = words[i];
        words[i] = words[count - 1 - i];
        words[count - 1 - i] = word;
    }
}

/* Puts the circular root part in order, and counts the frames left out. */
static void settle_frames(struct walk *walk)
{
    const uint32_t max = walk->frames_max, leaf = record_frames_leaf(max);
    uint64_t *root = walk->frames + leaf;
    uint32_t oldest = (walk->frame_count - leaf) % (max - leaf);
    reverse(root, oldest);
    reverse(root + oldest, max - leaf - oldest);
    reverse(root, max - leaf);
    walk->dropped = walk->frame_count - max;
    walk->frame_count = max;
}

static uint8_t kind_of(const struct walk *walk)
{
    uint32_t every = process.tables->header.self_check_every;
    switch (walk->end) {
    case WALK_UNKNOWN:
    case WALK_COMPLEX:
    case WALK_WITHHELD:
    case WALK_SEARCH:
        return RECORD_COPY;
    case WALK_ROOT:
        return every && walk->thread->samples % every == 0 && walk->dropped == 0 &&
                       stack_copy_fits_from_leaf(walk)
                   ? RECORD_CHECK
                   : RECORD_STACK;
    default:
        return RECORD_STACK;
    }
}

/* By the published map. The launcher may publish another map during the walk; afterwards it may
 * also write a third map into the place of this one. False: the map was replaced. */
static bool walk_once(struct walk *walk)
{
    uint64_t generation = load_acquire(&process.verdict->generation);
    uint32_t count = load_relaxed(&process.verdict->counts[generation % 2]);
    walk->modules = process.memory->maps[generation % 2].modules;
    walk->module_count = generation == 0 ? 0 : count < SESSION_MODULES ? count : SESSION_MODULES;
    walk->map_tag = (uint32_t)generation + process.joins * JOIN_STEP;
    walk->regs = walk->leaf;
    walk->is_return_address = false;
    walk->frame_count = 0;
    walk->end = WALK_FOREIGN;
    bool is_stale = load_relaxed(&process.verdict->unload_count) != walk->unload_count;
    if (!choose_stack(walk))
        push_frame(walk, walk->regs.pc);
    else if (process.tables->header.withhold_tables || is_stale) {
        push_frame(walk, walk->regs.pc);
        walk->end = process.tables->header.withhold_tables ? WALK_WITHHELD : WALK_UNKNOWN;
    } else
        walk->end = walk_frames(walk);
    fence_acquire(); /* everything was read before the generation is read again */
    return load_relaxed(&process.verdict->generation) == generation;
}

bool walk_write(const struct walk_request *request)
{
    uint32_t fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint32_t frames_max = process.tables->header.frames_max;
    if (frames_max < 4 || frames_max > RECORD_FRAMES_MAX)
        frames_max = RECORD_FRAMES_MAX;
    uint32_t most = fixed + 8 * frames_max + (uint32_t)sizeof(struct record_object);
    uint64_t position;
    uint8_t *record = ring_reserve(request->ring, most, &position);
    if (!record)
        return false;
    struct walk walk = {.thread = request->thread,
                        .context = request->context,
                        .ring = request->ring,
                        .object = request->object,
                        .unload_count = load_acquire(&process.slot->unload_count),
                        .leaf = arch_unwind_regs(request->context),
                        .frames_max = frames_max};
    walk.frames = (uint64_t *)(void *)(record + fixed);
    if (!walk_once(&walk) && !walk_once(&walk))
        walk.end = WALK_OFF_STACK;
    if (walk.frame_count > frames_max)
        settle_frames(&walk);
    struct record_header header = request->header;
    header.kind = kind_of(&walk);
    if (header.kind == RECORD_COPY)
        add_relaxed(&process.slot->unknown_count, 1);
    if (header.kind != RECORD_STACK)
        return stack_copy_record(&walk, header);
    header.bytes = fixed + 8 * walk.frame_count;
    return stack_record_commit(&walk, header, record, position);
}

bool walk_record(struct thread_state *thread, const ucontext_t *context, uint64_t ticks,
                 uint64_t weight_ns, uint8_t flags)
{
    const struct walk_request request = {
        .thread = thread,
        .context = context,
        .ring = &thread->ring,
        .header = {.event = (uint16_t)process.tables->header.event,
                   .flags = flags,
                   .ticks = ticks,
                   .weight_ns = weight_ns},
    };
    thread->slot->produced++;
    return walk_write(&request);
}
