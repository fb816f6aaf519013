/* SPDX-License-Identifier: MIT */
/*
 * An unfinished walk, for the launcher: the frames so far, registers, and the stack; of a too large
 * stack, the words that lead from frame to frame.
 *
 *     SP                                                                     end
 *     ┌──────┬───────────────────────────────────────────────┬─────────┬──────┐
 *     │ leaf │ addresses of code and of the stack, one word   │ not     │ root │
 *     │      │ in eleven in R and one in six in rustc         │ copied  │      │
 *     └──────┴───────────────────────────────────────────────┴─────────┴──────┘
 */
#include "sampler/sample/stack_copy.h"

#include "sampler/arch/arch.h"
#include "sampler/sample/stack_record.h"

/* Smaller stacks are copied whole. */
#define WHOLE_BYTES_MAX (UINT32_C(16) << 10)
#define LEAF_BYTES_MAX (UINT32_C(8) << 10)
/* Room kept for the root, if the words of the middle fill a copy. */
#define ROOT_BYTES_KEPT (UINT32_C(4) << 10)
/* Nothing is mapped before, by the kernel's usual vm.mmap_min_addr, or behind. */
#define FIRST_PAGES_BYTES UINT64_C(65536)

/* The limit of a stack copy. Half a ring is for largest copies. In the other half, the limit
 * shrinks with the square of the room, from 16 KiB: a cut stack is better than a lost sample. The
 * half takes 130 samples; with a limit in proportion to the room it took 47, and PHP lost samples
 * at 9999 Hz while the launcher waited 4 to 8 ms for a processor. */
static uint32_t most_bytes(const struct walk *walk)
{
    uint64_t kib = ring_room(walk->ring) / 1024;
    return kib >= SESSION_RING_BYTES / 2048 ? RECORD_COPY_BYTES_MAX
                                            : (uint32_t)(kib * kib / 32) * 8;
}

/* Start of the copied registers and stack: the leaf, with all registers valid, if everything fits
 * or no frame was walked; else the frame without a rule, behind the walked frames. */
static uint32_t copy_start(struct walk *walk, struct record_copy *copy, bool from_leaf)
{
    uint32_t kept = walk->frame_count;
    if (from_leaf || kept == 1) {
        copy->known = arch_dwarf_registers(walk->context, copy->registers);
        kept = 0;
    } else {
        kept--; /* the frame without a rule is repeated, from the registers */
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
    uint64_t sp = walk->leaf.sp;
    return sp >= walk->stack.lo && sp < walk->stack.hi &&
           walk->stack.hi - sp + ARCH_RED_ZONE <= most;
}

bool stack_copy_fits_from_leaf(const struct walk *walk)
{
    return fits_from_leaf(walk, most_bytes(walk));
}

/* Room for the whole copy; a smaller one near the ring's end, but not for a check. */
static uint8_t *reserve(const struct walk *walk, uint32_t before_stack, uint32_t *bytes,
                        bool is_check, uint64_t *position)
{
    uint8_t *record;
    uint32_t object_bytes = walk->object ? sizeof(*walk->object) : 0;
    while (!(record = ring_reserve(walk->ring, before_stack + *bytes + object_bytes, position)) &&
           *bytes > 0 && !is_check)
        *bytes = *bytes / 16 * 8;
    return record;
}

static uint32_t least(uint64_t bytes, uint32_t most_bytes)
{
    return bytes < most_bytes ? (uint32_t)bytes : most_bytes;
}

struct span {
    uint64_t start, bytes;
};

static bool span_has(const struct span *span, uint64_t avma)
{
    return avma - span->start < span->bytes;
}

/* The address ranges of code: below and above the widest gap between modules, usually the
 * heap's. After a stop at unmapped code, such code may be anywhere. The page of [vsyscall] is
 * above all addresses. */
static void find_code(const struct walk *walk, struct span code[2])
{
    uint64_t pc = unwind_lookup_pc(walk->regs.pc, walk->is_return_address);
    code[0] = code[1] = (struct span){FIRST_PAGES_BYTES, RECORD_ADDRESSES_END - FIRST_PAGES_BYTES};
    if (!unwind_find_module(walk->modules, walk->module_count, pc))
        return;
    uint64_t first = load_relaxed(&walk->modules[0].start_avma);
    uint64_t end = load_relaxed(&walk->modules[0].end_avma);
    uint64_t widest = 0;
    code[0] = code[1] = (struct span){first, end - first};
    for (uint32_t i = 1; i < walk->module_count; i++) {
        uint64_t start = load_relaxed(&walk->modules[i].start_avma);
        if (start >= RECORD_ADDRESSES_END)
            break;
        if (start - end > widest) {
            widest = start - end;
            code[0].bytes = end - first;
            code[1].start = start;
        }
        end = load_relaxed(&walk->modules[i].end_avma);
        code[1].bytes = end - code[1].start;
    }
}

/* Takes words of the middle up to the limit, and the rest of the room for the root. */
static void take_words(const struct walk *walk, struct record_copy *copy, uint64_t *words,
                       uint32_t room)
{
    const struct span stack = {copy->stack_start_avma,
                               copy->stack_end_avma - copy->stack_start_avma};
    const uint64_t *middle =
        (const uint64_t *)(uintptr_t)(copy->stack_start_avma + copy->leaf_bytes);
    uint64_t left = stack.bytes - copy->leaf_bytes;
    uint32_t count = least(left, RECORD_MIDDLE_BYTES_MAX) / 8;
    const uint32_t most = room - least(room / 16, ROOT_BYTES_KEPT / 8);
    uint32_t at = 0;
    struct span code[2];
    find_code(walk, code);
    for (; at < count && copy->word_count < most; at++) {
        uint64_t word = middle[at];
        if (span_has(&code[0], word) || span_has(&code[1], word) || span_has(&stack, word))
            words[copy->word_count++] = record_word(at, word);
    }
    copy->middle_bytes = 8 * at;
    copy->root_bytes = least(left - copy->middle_bytes, 8 * (room - copy->word_count));
}

/* Copies the stack into the given room. Returns the copied bytes. The end of a context's stack
 * was noted earlier: memory far from SP may be unmapped by now. */
static uint32_t copy_stack(const struct walk *walk, struct record_copy *copy, uint8_t *to,
                           uint32_t room, bool is_check)
{
    uint64_t wanted = copy->stack_end_avma - copy->stack_start_avma;
    bool is_divided = wanted > WHOLE_BYTES_MAX && !is_check && !walk->is_context;
    copy->leaf_bytes = is_divided ? least(room / 64 * 8, LEAF_BYTES_MAX) : room;
    arch_copy(to, (const void *)(uintptr_t)copy->stack_start_avma, copy->leaf_bytes);
    if (is_divided)
        take_words(walk, copy, (uint64_t *)(void *)(to + copy->leaf_bytes),
                   (room - copy->leaf_bytes) / 8);
    uint32_t before_root = copy->leaf_bytes + 8 * copy->word_count;
    arch_copy(to + before_root, (const void *)(uintptr_t)(copy->stack_end_avma - copy->root_bytes),
              copy->root_bytes);
    return before_root + copy->root_bytes;
}

/* Within the ring, where the two places may overlap either way. */
static void move_words(uint64_t *to, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count && to < from; i++)
        to[i] = from[i];
    for (uint32_t i = count; i-- > 0 && to > from;)
        to[i] = from[i];
}

/* The walked frames lie at the place of RECORD_STACK; this record needs registers before them.
 * The place is usually the same, but the ring's first byte after the launcher has emptied the
 * ring. */
bool stack_copy_record(struct walk *walk, struct record_header header)
{
    const uint32_t fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    bool is_check = header.kind == RECORD_CHECK;
    uint32_t bytes = most_bytes(walk);
    struct record_copy copy = {.is_foreign = walk->is_foreign};
    uint32_t kept = copy_start(walk, &copy, is_check || fits_from_leaf(walk, bytes));
    bytes = least(copy.stack_end_avma - copy.stack_start_avma, bytes);
    if (!is_check)
        walk->frame_count = kept;
    if (kept == 0)
        walk->dropped = 0;
    uint32_t before_stack = fixed + (uint32_t)sizeof(copy) + 8 * walk->frame_count;
    uint64_t position;
    uint8_t *record = reserve(walk, before_stack, &bytes, is_check, &position);
    if (!record)
        return false;
    uint64_t *frames = (uint64_t *)(void *)(record + fixed + sizeof(copy));
    move_words(frames, walk->frames, walk->frame_count); /* before anything is written there */
    uint32_t copied = copy_stack(walk, &copy, record + before_stack, bytes, is_check);
    *(struct record_copy *)(void *)(record + fixed) = copy;
    header.bytes = before_stack + copied;
    return stack_record_commit(walk, header, record, position);
}
