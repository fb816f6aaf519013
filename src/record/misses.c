/* SPDX-License-Identifier: MIT */
/*
 * Samples that need the image's map: those that the target could not walk, finished here by the offline
 * unwinder, and those that were walked before the collector had the map. Kept until the image has a map
 * at least as new as they are.
 */
#include "record/collector.h"

#include "base/array.h"
#include "wire/records.h"

#include <stdio.h>
#include <string.h>

/* More waiting bytes than this: the oldest are finished with what is known. */
#define MISS_BYTES_MAX (UINT32_C(64) << 20)

/* A RECORD_COPY or RECORD_CHECK whose sizes have been checked against the record's. */
struct copied {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
    const uint64_t *frames;
    const uint8_t *bytes;
};

static bool parse(const uint8_t *record, size_t size, struct copied *out)
{
    size_t fixed = sizeof(out->header) + sizeof(out->stack) + sizeof(out->copy);
    if (size < fixed)
        return false;
    memcpy(&out->header, record, sizeof(out->header));
    memcpy(&out->stack, record + sizeof(out->header), sizeof(out->stack));
    memcpy(&out->copy, record + sizeof(out->header) + sizeof(out->stack), sizeof(out->copy));
    if (out->stack.frame_count > RECORD_FRAMES_MAX ||
        out->copy.stack_bytes > RECORD_COPY_BYTES_MAX ||
        size != fixed + 8 * (size_t)out->stack.frame_count + out->copy.stack_bytes)
        return false;
    out->frames = (const uint64_t *)(const void *)(record + fixed);
    out->bytes = record + fixed + 8 * (size_t)out->stack.frame_count;
    return true;
}

static struct offline_result unwind(const struct image *image, const struct copied *from,
                                    bool is_return_address, uint64_t *frames, size_t max_frames)
{
    struct full_regs regs = {.known = from->copy.known};
    memcpy(regs.value, from->copy.registers, sizeof(regs.value));
    uint64_t end_avma;
    if (__builtin_add_overflow(from->copy.stack_start_avma, from->copy.stack_bytes, &end_avma))
        end_avma = from->copy.stack_start_avma;
    struct stack_view stack = {
        .lo = from->copy.stack_start_avma, .hi = end_avma, .bytes = from->bytes};
    const struct image_map *map = image->map;
    return offline_unwind(map ? map->offline : NULL, map ? map->count : 0, &regs, is_return_address,
                          &stack, frames, max_frames);
}

static enum record_cut cut_of(const struct copied *from, enum offline_end end)
{
    bool was_cut = from->copy.stack_end_avma > from->copy.stack_start_avma + from->copy.stack_bytes;
    switch (end) {
    case OFFLINE_CUT:
        return was_cut ? RECORD_CUT_STACK_COPY : RECORD_CUT_NO_CFI;
    case OFFLINE_UNMAPPED:
        return RECORD_CUT_UNMAPPED;
    case OFFLINE_TOO_DEEP:
        return RECORD_CUT_DEEP;
    case OFFLINE_ROOT:
    case OFFLINE_NO_CFI:
        break;
    }
    return RECORD_CUT_NO_CFI;
}

static void note_module(struct collector *collector, const struct image *image, uint64_t avma)
{
    const struct image_mapping *mapping = image->map ? map_find(image->map, avma) : NULL;
    struct record_summary *summary = collector->summary;
    const char *path = mapping ? mapping->path : "[unknown]";
    if (summary->worst_module.misses == 0)
        snprintf(summary->worst_module.path, sizeof(summary->worst_module.path), "%s", path);
    if (strncmp(summary->worst_module.path, path, sizeof(summary->worst_module.path) - 1) == 0)
        summary->worst_module.misses++;
}

/* False: it stops at a PC in no known module, of which a newer map may know more; nothing was written. */
static bool finish_copy(struct collector *collector, struct image *image, const struct miss *miss,
                        bool is_last_try)
{
    struct copied from;
    if (!parse(collector->miss_bytes.bytes + miss->record_offset, miss->record_bytes, &from)) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return true;
    }
    uint64_t frames[RECORD_FRAMES_MAX];
    uint32_t known = from.stack.frame_count;
    memcpy(frames, from.frames, 8 * (size_t)known);
    struct offline_result result =
        unwind(image, &from, known > 0, frames + known, RECORD_FRAMES_MAX - known);
    if (result.end == OFFLINE_UNMAPPED && !is_last_try)
        return false;
    note_module(collector, image, from.copy.registers[UNWIND_DWARF_PC]);
    struct decoded sample = {
        .image = image,
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
    return true;
}

static bool finish(struct collector *collector, struct image *image, const struct miss *miss,
                   bool is_last_try)
{
    const uint8_t *record = collector->miss_bytes.bytes + miss->record_offset;
    if (((const struct record_header *)(const void *)record)->kind == RECORD_COPY)
        return finish_copy(collector, image, miss, is_last_try);
    stack_take(collector, image, miss->tid, miss->time_ns, record, miss->record_bytes);
    return true;
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

/* True when it was finished. A module that was loaded after the map was read is unknown, be it the
 * sample's own or that of a caller behind a frame that only the launcher can step over. */
static bool try_to_finish(struct collector *collector, struct image *image, struct miss *miss)
{
    if (image->map && image->map->read_ns > miss->time_ns)
        return finish(collector, image, miss, true);
    if (image->map_requests > 0)
        return false;
    bool is_last_try = image->has_ended;
    miss->wants_map |= map_is_outdated(collector, image, miss);
    if ((is_last_try || !miss->wants_map) && finish(collector, image, miss, is_last_try))
        return true;
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
        if (force ? !finish(collector, image, miss, true)
                  : !try_to_finish(collector, image, miss)) {
            collector->misses[kept++] = *miss;
            continue;
        }
        image->waiting_ns -= miss->weight_ns;
    }
    collector->miss_count = kept;
    if (kept == 0)
        buffer_clear(&collector->miss_bytes);
}

void miss_check(struct collector *collector, const struct image *image, const uint8_t *record,
                size_t bytes)
{
    struct copied from;
    if (!image->map || !parse(record, bytes, &from))
        return;
    uint64_t frames[RECORD_FRAMES_MAX];
    struct offline_result result = unwind(image, &from, false, frames, RECORD_FRAMES_MAX);
    collector->summary->checked++;
    if (result.frame_count != from.stack.frame_count ||
        memcmp(frames, from.frames, 8 * result.frame_count) != 0)
        collector->summary->check_differed++;
}
