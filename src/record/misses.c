/* SPDX-License-Identifier: MIT */
/*
 * Samples that need the image's map: those that the target could not walk, finished here by the offline
 * unwinder, and those that were walked before the collector had the map. Kept until the image has a map
 * at least as new as they are, and then until the CFI of the modules that they lead through has been read.
 *
 * A walk in the target stops at the first frame whose code has no rows; so these samples are what rows are compiled
 * for: the pieces of code that they lead through.
 */
#include "record/collector_parts.h"

#include "base/array.h"
#include "record/copied.h"
#include "wire/atomic.h"

#include <stdio.h>
#include <string.h>

/* More waiting bytes than this: the oldest are finished with what is known. */
#define MISS_BYTES_MAX (UINT32_C(64) << 20)

/* How long a sample may wait for what would make its stack complete. */
enum patience { WAITS_FOR_MAP, WAITS_FOR_CFI, WAITS_NO_LONGER };
enum outcome { FINISHED, NEEDS_MAP, NEEDS_CFI };

/* Where the offline unwinder finds modules, and the first that it met without CFI. */
struct lookup {
    struct collector *collector;
    const struct image_map *map; /* NULL: none */
    struct known_module *unread;
};

/* False: it was asked for, or will be when the pause is over. */
static bool is_due(const struct collector *collector, const struct known_module *module,
                   const bool *is_wanted)
{
    return !load_acquire(is_wanted) && collector->round_ns >= load_relaxed(&module->pause_end_ns);
}

/* Of a module that is not MODULE_READ. */
static void want_cfi(struct collector *collector, struct known_module *module)
{
    if (!is_due(collector, module, &module->is_cfi_wanted))
        return;
    store_relaxed(&module->is_cfi_wanted, true);
    if (compiler_want_cfi(collector->compiler, module) != 0)
        store_relaxed(&module->is_cfi_wanted, false);
}

/* Most of it is compiled already, or soon will be. */
static void want_rows(struct collector *collector, struct known_module *module, uint64_t svma)
{
    uint64_t piece = (svma - module->base_svma) >> ROW_PIECE_SHIFT;
    if (piece >= module->piece_count || !is_due(collector, module, &module->is_wanted[piece]))
        return;
    store_relaxed(&module->is_wanted[piece], true);
    if (compiler_want_rows(collector->compiler, module, (uint32_t)piece) != 0)
        store_relaxed(&module->is_wanted[piece], false);
}

static bool find_mapping(void *context, uint64_t pc, struct offline_mapping *out)
{
    struct lookup *lookup = context;
    const struct image_mapping *mapping = lookup->map ? map_find(lookup->map, pc) : NULL;
    if (!mapping)
        return false;
    struct known_module *module = mapping->module;
    *out = (struct offline_mapping){
        .start_avma = mapping->start_avma, .end_avma = mapping->end_avma, .bias = mapping->bias};
    if (!module)
        return true;
    enum module_state state = load_acquire(&module->state);
    if (state == MODULE_UNREAD && !lookup->unread)
        lookup->unread = module;
    if (state == MODULE_READ)
        want_rows(lookup->collector, module, pc - mapping->bias);
    if (state == MODULE_NO_ROOM)
        want_cfi(lookup->collector, module);
    out->module = state != MODULE_UNREAD ? load_acquire(&module->unwind) : NULL;
    return true;
}

static struct offline_result unwind(struct lookup *lookup, const struct copied *from,
                                    bool is_return_address, uint64_t *frames, size_t max_frames)
{
    struct full_regs regs = {.known = from->copy.known};
    memcpy(regs.value, from->copy.registers, sizeof(regs.value));
    struct copied_stack stack;
    if (!copied_view(from, &lookup->collector->stack_room, &stack))
        return (struct offline_result){.end = OFFLINE_CUT};
    const struct offline_map map = {.find = find_mapping, .context = lookup};
    const struct offline_frames out = {.pcs = frames, .max = max_frames};
    return offline_unwind_in(&map, &regs, is_return_address, &stack.view, &out);
}

static enum record_cut cut_of(const struct copied *from, enum offline_end end)
{
    if (from->copy.is_foreign &&
        (end == OFFLINE_CUT || end == OFFLINE_NO_CFI || end == OFFLINE_NO_CODE))
        return RECORD_CUT_FOREIGN;
    switch (end) {
    case OFFLINE_CUT:
        return copied_is_whole(from) ? RECORD_CUT_NO_CFI : RECORD_CUT_STACK_COPY;
    case OFFLINE_UNMAPPED:
        return RECORD_CUT_UNMAPPED;
    case OFFLINE_TOO_DEEP:
        return RECORD_CUT_DEEP;
    case OFFLINE_ROOT:
    case OFFLINE_NO_CFI:
    case OFFLINE_NO_CODE:
        break;
    }
    return RECORD_CUT_NO_CFI;
}

static void note_module(struct collector *collector, const struct image_map *map, uint64_t avma)
{
    const struct image_mapping *mapping = map ? map_find(map, avma) : NULL;
    struct record_summary *summary = collector->summary;
    const char *path = mapping ? mapping->path : "[unknown]";
    if (summary->worst_module.misses == 0)
        snprintf(summary->worst_module.path, sizeof(summary->worst_module.path), "%s", path);
    if (strncmp(summary->worst_module.path, path, sizeof(summary->worst_module.path) - 1) == 0)
        summary->worst_module.misses++;
}

static const struct image_map *map_of(const struct image *image, const struct miss *miss)
{
    return miss->map ? miss->map : image->map;
}

/* Nothing is written if it stops at a PC in no known module, of which a newer map may know more, or leads through a
 * module whose CFI has to be read first. */
static enum outcome finish_copy(struct collector *collector, struct image *image,
                                const struct miss *miss, enum patience patience)
{
    struct copied from;
    if (!copied_parse(&from, collector->miss_bytes.bytes + miss->record_offset,
                      miss->record_bytes)) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return FINISHED;
    }
    uint64_t frames[RECORD_FRAMES_MAX];
    uint32_t known = from.stack.frame_count;
    memcpy(frames, from.frames, 8 * (size_t)known);
    struct lookup lookup = {.collector = collector, .map = map_of(image, miss)};
    struct offline_result result =
        unwind(&lookup, &from, known > 0, frames + known, RECORD_FRAMES_MAX - known);
    if (lookup.unread && patience != WAITS_NO_LONGER) {
        want_cfi(collector, lookup.unread);
        return NEEDS_CFI;
    }
    bool leads_out = result.end == OFFLINE_UNMAPPED || result.end == OFFLINE_NO_CODE;
    if (leads_out && patience == WAITS_FOR_MAP)
        return NEEDS_MAP;
    note_module(collector, lookup.map, from.copy.registers[UNWIND_DWARF_PC]);
    struct decoded sample = {
        .image = image,
        .map = lookup.map,
        .tid = miss->tid,
        .time_ns = miss->time_ns,
        .weight_ns = from.header.weight_ns,
        .frames = frames,
        .frame_count = known + (uint32_t)result.frame_count,
        .flags = from.header.flags,
        .is_complete = result.end == OFFLINE_ROOT,
        .cut = cut_of(&from, result.end),
    };
    collector->summary->misses++;
    stack_write(collector, &sample);
    return FINISHED;
}

static enum outcome finish(struct collector *collector, struct image *image,
                           const struct miss *miss, enum patience patience)
{
    const uint8_t *record = collector->miss_bytes.bytes + miss->record_offset;
    if (((const struct record_header *)(const void *)record)->kind == RECORD_COPY)
        return finish_copy(collector, image, miss, patience);
    stack_take(collector, image, map_of(image, miss), miss->tid, miss->time_ns, record,
               miss->record_bytes);
    return FINISHED;
}

void miss_add(struct collector *collector, struct image *image, pid_t tid, uint64_t time_ns,
              const uint8_t *record, size_t bytes)
{
    struct record_header header;
    memcpy(&header, record, sizeof(header));
    buffer_zeros(&collector->miss_bytes, -collector->miss_bytes.size & 7u);
    struct miss *miss =
        ARRAY_PUSH(collector->misses, collector->miss_count, collector->miss_capacity);
    if (!miss) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    *miss = (struct miss){
        .image = (uint32_t)(image - collector->images),
        .tid = tid,
        .time_ns = time_ns,
        .weight_ns = header.weight_ns,
        .record_offset = collector->miss_bytes.size,
        .record_bytes = bytes,
    };
    buffer_append(&collector->miss_bytes, record, bytes);
    if (collector->miss_bytes.failed) {
        collector->miss_count--;
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    image->waiting_ns += header.weight_ns;
    image->waiting_count++;
    if (collector->miss_bytes.size > MISS_BYTES_MAX)
        misses_finish(collector, true);
}

/* The map that there is may have another library where this sample's code lay. */
static bool map_is_outdated(const struct collector *collector, const struct image *image,
                            const struct miss *miss)
{
    struct record_stack stack;
    if (!image->map || miss->record_bytes < sizeof(struct record_header) + sizeof(stack))
        return false;
    memcpy(&stack, collector->miss_bytes.bytes + miss->record_offset + sizeof(struct record_header),
           sizeof(stack));
    return stack.unload_count != image->map->unload_count;
}

/* Later maps may have another library in the same place. */
static void settle_on_map(struct image *image, struct miss *miss)
{
    miss->map = image->map;
    if (miss->map)
        miss->map->users++;
}

/* True when it was finished. A module that was loaded after the map was read is unknown, be it the
 * sample's own or that of a caller behind a frame that only the launcher can step over. */
static bool try_to_finish(struct collector *collector, struct image *image, struct miss *miss)
{
    if (!miss->map && image->map && image->map->read_ns > miss->time_ns)
        settle_on_map(image, miss);
    if (!miss->map && image->map_requests > 0)
        return false;
    bool no_other_map = miss->map || image->has_ended;
    miss->wants_map |= !no_other_map && map_is_outdated(collector, image, miss);
    enum outcome outcome = NEEDS_MAP;
    if (!miss->wants_map || no_other_map)
        outcome = finish(collector, image, miss, no_other_map ? WAITS_FOR_CFI : WAITS_FOR_MAP);
    miss->needs_cfi = outcome == NEEDS_CFI;
    if (outcome != NEEDS_MAP)
        return outcome == FINISHED;
    miss->wants_map = true;
    if (collector->round_ns - image->map_wanted_ns > image->map_pause_ns)
        image_want_map(collector, image);
    return false;
}

void misses_finish(struct collector *collector, bool force)
{
    size_t kept = 0;
    for (size_t i = 0; i < collector->miss_count; i++) {
        struct miss *miss = &collector->misses[i];
        struct image *image = &collector->images[miss->image];
        if (!image->in_use)
            continue;
        if (force)
            finish(collector, image, miss, WAITS_NO_LONGER);
        else if (!try_to_finish(collector, image, miss)) {
            collector->misses[kept++] = *miss;
            continue;
        }
        image->waiting_ns -= miss->weight_ns;
        image->waiting_count--;
        image_map_release(miss->map);
    }
    collector->miss_count = kept;
    if (kept == 0)
        buffer_clear(&collector->miss_bytes);
}

void miss_check(struct collector *collector, const struct image *image, const uint8_t *record,
                size_t bytes)
{
    struct copied from;
    if (!image->map || !copied_parse(&from, record, bytes))
        return;
    uint64_t frames[RECORD_FRAMES_MAX];
    struct lookup lookup = {.collector = collector, .map = image->map};
    struct offline_result result = unwind(&lookup, &from, false, frames, RECORD_FRAMES_MAX);
    collector->summary->checked++;
    if (result.frame_count != from.stack.frame_count ||
        memcmp(frames, from.frames, 8 * result.frame_count) != 0)
        collector->summary->check_differed++;
}
