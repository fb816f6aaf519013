/* SPDX-License-Identifier: MIT */
/*
 * What a walk could not finish, for the launcher: the frames so far, registers, and the stack or both of its ends.
 *
 *     SP                                                              end
 *     ┌──────────────┬─────────────────────────────────┬──────────────┐
 *     │ leaf: 64 KiB │ not copied: rustc has one frame │ root: 64 KiB │
 *     │              │ of 525 KiB there                │              │
 *     └──────────────┴─────────────────────────────────┴──────────────┘
 */
#include "sampler/walk.h"

/* How much of a stack may be copied. Half a ring is for two of the largest copies, the other half for smaller and
 * smaller ones: a stack that is cut is better than a sample that is lost. */
static uint32_t most_bytes(const struct walk *walk)
{
    uint64_t room = ring_room(&walk->thread->ring);
    return room >= SESSION_RING_BYTES / 2 ? RECORD_COPY_BYTES_MAX : (uint32_t)(room / 64) * 8;
}

/* Where the copied registers and stack begin: at the leaf when all of it fits, with every register
 * known; else at the frame that could not be walked, behind the frames that were. */
static uint32_t copy_start(struct walk *walk, struct record_copy *copy, bool from_leaf)
{
    uint32_t kept = walk->frame_count;
    if (from_leaf) {
        copy->known = arch_dwarf_registers(walk->context, copy->registers);
        kept = 0;
    } else {
        kept--; /* the frame whose rule is missing comes again, from the registers */
        copy->registers[ARCH_DWARF_FP] = walk->regs.fp;
        copy->registers[ARCH_DWARF_SP] = walk->regs.sp;
        copy->registers[ARCH_DWARF_PC] = walk->regs.pc;
        copy->known = 1u << ARCH_DWARF_FP | 1u << ARCH_DWARF_SP | 1u << ARCH_DWARF_PC;
    }
    uint64_t sp = copy->registers[ARCH_DWARF_SP];
    copy->stack_start_avma = walk->stack.lo & ~UINT64_C(7);
    if (copy->stack_start_avma + ARCH_RED_ZONE < sp)
        copy->stack_start_avma = (sp - ARCH_RED_ZONE) & ~UINT64_C(7);
    if (copy->stack_start_avma < walk->stack.lo)
        copy->stack_start_avma += 8;
    copy->stack_end_avma = walk->stack.hi;
    return kept;
}

static bool fits_from_leaf(const struct walk *walk, uint32_t most)
{
    uint64_t sp = arch_sp(walk->context);
    return sp >= walk->stack.lo && sp < walk->stack.hi &&
           walk->stack.hi - sp + ARCH_RED_ZONE <= most;
}

bool copy_fits_from_leaf(const struct walk *walk)
{
    return fits_from_leaf(walk, most_bytes(walk));
}

/* Of a stack that is too large both ends, if there is room for them, else the leaf's. Where a context's stack ends is
 * what was said once: far from SP there may be nothing any more. */
static void divide_stack(const struct walk *walk, struct record_copy *copy, uint32_t most)
{
    uint64_t wanted = copy->stack_end_avma - copy->stack_start_avma;
    bool has_hole = wanted > most && most > RECORD_COPY_LEAF_BYTES && !walk->is_context;
    copy->stack_bytes = wanted < most ? (uint32_t)wanted : most;
    copy->root_bytes = has_hole ? most - RECORD_COPY_LEAF_BYTES : 0;
}

/* With less of the stack when the ring's end is in the way; a check needs all of it. */
static uint8_t *reserve(const struct walk *walk, struct record_copy *copy, uint32_t before_stack,
                        bool is_check, uint64_t *position)
{
    const struct ring *ring = &walk->thread->ring;
    uint8_t *record;
    while (!(record = ring_reserve(ring, before_stack + copy->stack_bytes, position)) &&
           copy->stack_bytes > 0 && !is_check) {
        copy->stack_bytes = copy->stack_bytes / 16 * 8;
        copy->root_bytes = 0;
    }
    return record;
}

/* Within the ring, where the two places may overlap either way. */
static void move_words(uint64_t *to, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count && to < from; i++)
        to[i] = from[i];
    for (uint32_t i = count; i-- > 0 && to > from;)
        to[i] = from[i];
}

/* The walked frames lie where RECORD_STACK wants them; this record needs registers before them. Its place is as a
 * rule the same, but the ring's first byte when the launcher has emptied it meanwhile. */
bool copy_record(struct walk *walk, struct record_header header, enum walk_end end,
                 uint32_t unload_count)
{
    const uint32_t fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    bool is_check = header.kind == RECORD_CHECK;
    uint32_t most = most_bytes(walk);
    struct record_copy copy = {.is_foreign = walk->is_foreign};
    uint32_t kept = copy_start(walk, &copy, is_check || fits_from_leaf(walk, most));
    divide_stack(walk, &copy, most);
    if (!is_check)
        walk->frame_count = kept;
    uint32_t before_stack = fixed + (uint32_t)sizeof(copy) + 8 * walk->frame_count;
    uint64_t position;
    uint8_t *record = reserve(walk, &copy, before_stack, is_check, &position);
    if (!record)
        return false;
    uint64_t *frames = (uint64_t *)(void *)(record + fixed + sizeof(copy));
    move_words(frames, walk->frames, walk->frame_count); /* before anything is written there */
    *(struct record_copy *)(void *)(record + fixed) = copy;
    uint32_t leaf_bytes = copy.stack_bytes - copy.root_bytes;
    arch_copy(record + before_stack, (const void *)(uintptr_t)copy.stack_start_avma, leaf_bytes);
    arch_copy(record + before_stack + leaf_bytes,
              (const void *)(uintptr_t)(copy.stack_end_avma - copy.root_bytes), copy.root_bytes);
    walk_write_header(walk, record, end, unload_count);
    return walk_commit(walk, record, position, before_stack + copy.stack_bytes, header);
}
