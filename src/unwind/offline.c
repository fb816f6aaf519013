/* SPDX-License-Identifier: MIT */
/* Walks, and keeps walks in the cache; the steps: offline_step.h. */
#include "unwind/offline.h"

#include "unwind/unwind_cache.h"

enum {
    FRAMES_WALKED_MAX = 1 << 20,
    FRAME_BYTES_MAX = 1 << 20, /* of one frame */
};

/* The root part is circular until offline_frames_settle(). */
static void put_frame(const struct offline_frames *frames, size_t index,
                      const struct offline_walk *walk)
{
    if (index >= frames->max)
        index = frames->leaf_max + (index - frames->leaf_max) % (frames->max - frames->leaf_max);
    frames->pcs[index] = walk->frame.regs.pc;
    if (frames->are_return_addresses)
        frames->are_return_addresses[index] = walk->frame.is_return_address;
}

static struct cached_frame frame_of(const struct offline_walk *walk)
{
    return (struct cached_frame){.regs = walk->frame.regs,
                                 .generation = walk->map->generation,
                                 .is_return_address = walk->frame.is_return_address};
}

/* The cached walk from a frame on, if its frames fit. */
static struct cached_walk *find_known(const struct offline_walk *walk,
                                      const struct offline_frames *frames, size_t at)
{
    const struct unwind_cache *walks = walk->map->walks;
    const struct cached_frame frame = frame_of(walk);
    if (!walks || at >= UNWIND_CACHE_FRAMES || walk->has_lost_sp)
        return NULL;
    struct cached_walk *known = unwind_cache_find(walks, &frame, walk->stack);
    return known && known->count < frames->max - at ? known : NULL;
}

/* Writes the frames up to the root. Returns the number of frames. */
static size_t put_known(const struct offline_walk *walk, const struct cached_walk *known,
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

/* Caches the walk from `first` on; joined: the cached rest of the walk, or NULL at the root. */
static struct cached_walk *keep(const struct offline_walk *walk, const struct cached_frame *first,
                                const struct cached_walk *joined, bool root_is_in_code)
{
    if (!walk->map->walks)
        return NULL;
    walk->map->walks->root_is_in_code = root_is_in_code;
    return unwind_cache_keep(walk->map->walks, first, joined);
}

/* Whether the captured bytes are those of an alternate signal stack, and the frame reached was
 * interrupted on another stack. */
static bool has_left_signal_stack(const struct offline_walk *walk)
{
    bool has_left = walk->is_interrupted;
    for (const struct stack_view *stack = walk->stack; stack; stack = stack->beyond)
        has_left &= walk->frame.regs.sp - stack->lo > stack->hi - stack->lo + FRAME_BYTES_MAX;
    return has_left;
}

/* Of a walk without a root. */
static enum offline_end end_of(const struct offline_walk *walk, enum unwind_result result)
{
    if (result == UNWIND_OFF_STACK)
        return has_left_signal_stack(walk) ? OFFLINE_SIGNAL : OFFLINE_CUT;
    /* Also of complex frames, dependent on unknown values. */
    if (walk->leads_nowhere)
        return OFFLINE_NO_CODE;
    return walk->evidence == CALLER_GUESSED ? OFFLINE_GUESS : OFFLINE_NO_CFI;
}

/* The end of a walk at a PC outside of all mappings. */
static enum offline_end end_outside(const struct offline_walk *walk)
{
    bool has_no_caller = walk->frame.is_return_address && walk->frame.regs.pc == 0;
    return has_no_caller ? OFFLINE_NO_CALLER : OFFLINE_UNMAPPED;
}

static enum offline_end if_whole(const struct offline_walk *walk, enum offline_end end)
{
    if (end != OFFLINE_CUT || !walk->may_be_entered)
        return end;
    return walk->evidence == CALLER_GUESSED ? OFFLINE_GUESS : OFFLINE_NO_CFI;
}

/* interrupted_sp leads the reader of a live process to the interrupted stack: the bytes copied so
 * far end with the alternate stack. */
static struct offline_result result_of(const struct offline_walk *walk, size_t count,
                                       enum offline_end end, struct cached_walk *cached)
{
    bool needs_stack = walk->is_interrupted && (end == OFFLINE_SIGNAL || end == OFFLINE_CUT);
    return (struct offline_result){.frame_count = count,
                                   .end = end,
                                   .interrupted_sp = needs_stack ? walk->frame.regs.sp : 0,
                                   .end_if_whole = if_whole(walk, end),
                                   .walk = cached,
                                   .searched = walk->searched,
                                   .inferred_fps = walk->inferred_fps,
                                   .steps = walk->steps};
}

static struct offline_result root_of(const struct offline_walk *walk, size_t count,
                                     bool root_is_in_code, struct cached_walk *cached)
{
    struct offline_result result = result_of(walk, count, OFFLINE_ROOT, cached);
    result.root_is_in_code = root_is_in_code;
    return result;
}

static void note_unverified(struct offline_walk *walk, size_t place)
{
    if (walk->verified > place)
        walk->verified = place;
}

/* A round writes a frame, and steps to the caller. The walk ends at the root, outside of code, at
 * a step that fails, or at a frame with a cached walk. Frames of the result may exceed the room. */
static struct offline_result walk_up(struct offline_walk *walk, const struct offline_frames *frames)
{
    const struct cached_frame first = frame_of(walk);
    const size_t most = frames->leaf_max ? FRAMES_WALKED_MAX : frames->max;
    for (size_t count = 0; count < most; count++) {
        struct cached_walk *known = find_known(walk, frames, count);
        if (known) {
            note_unverified(walk, count);
            size_t all = put_known(walk, known, frames, count);
            bool is_in_code = known->root_is_in_code; /* keep() may move known */
            return root_of(walk, all, is_in_code,
                           count ? keep(walk, &first, known, is_in_code) : known);
        }
        walk->steps++;
        uint64_t lookup_pc = unwind_lookup_pc(walk->frame.regs.pc, walk->frame.is_return_address);
        struct offline_place place;
        bool is_found = offline_find_place(walk, lookup_pc, &place);
        /* A caller outside of code is no frame; the innermost PC was sampled. */
        if (is_found || count == 0)
            put_frame(frames, count, walk);
        if (!is_found)
            return result_of(walk, count ? count : 1, end_outside(walk), NULL);
        enum unwind_result result = offline_step(walk, &place);
        if (walk->has_followed_fp)
            note_unverified(walk, count);
        if (result == UNWIND_END) {
            put_frame(frames, count, walk); /* maybe another address of the root */
            bool is_in_code = walk->evidence == CALLER_IS_ROOT;
            return root_of(walk, count + 1, is_in_code, keep(walk, &first, NULL, is_in_code));
        }
        if (result != UNWIND_OK)
            return result_of(walk, count + 1, end_of(walk, result), NULL);
    }
    return result_of(walk, most, OFFLINE_TOO_DEEP, NULL);
}

struct offline_result offline_unwind_in(const struct offline_map *map, const struct full_regs *regs,
                                        bool first_is_return_address,
                                        const struct stack_view *stack,
                                        const struct offline_frames *frames)
{
    struct offline_walk walk = {
        .map = map,
        .stack = stack,
        .frame = offline_frame_of(regs, first_is_return_address),
        .full = *regs,
        .full_is_return_address = first_is_return_address,
        .verified = SIZE_MAX,
    };
    if (map->walks)
        unwind_cache_begin(map->walks);
    if (map->code)
        caller_cache_begin_walk(map->code->cache);
    struct offline_result result = walk_up(&walk, frames);
    result.dropped = offline_frames_settle(frames, result.frame_count);
    result.frame_count -= result.dropped;
    result.verified = result.dropped                       ? 0
                      : walk.verified < result.frame_count ? walk.verified
                                                           : result.frame_count;
    return result;
}
