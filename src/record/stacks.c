/* SPDX-License-Identifier: MIT */
/* From the frames of one walk to one sample in the file: our own frames out, marks in, counted. */
#include "record/collector_parts.h"

#include <string.h>

/* Walked frames, a kernel leaf, two marks. */
#define FRAMES_MAX (RECORD_FRAMES_MAX + 3)

struct frame_list {
    uint64_t frames[FRAMES_MAX];
    size_t count;
};

static void push(struct frame_list *list, uint64_t avma)
{
    if (list->count < FRAMES_MAX)
        list->frames[list->count++] = avma;
}

/* The thread start that we put between the C library's and the program's is nobody's business. The leaf
 * stays: it is time that we cost. */
static bool is_own_frame(const struct image_map *map, uint64_t avma)
{
    return map && avma > map->sampler_start_avma && avma <= map->sampler_end_avma;
}

/* Most samples go into the file as they are. Without a branch in the loop, which most of their cost was. */
static bool is_plain(const struct decoded *sample)
{
    if ((sample->flags & RECORD_KERNEL) || sample->dropped || !sample->is_complete)
        return false;
    const struct image_map *map = sample->map;
    if (!map)
        return true;
    uint64_t start = map->sampler_start_avma, bytes = map->sampler_end_avma - start;
    uint64_t own = 0;
    for (uint32_t i = 1; i < sample->frame_count; i++)
        own |= sample->frames[i] - start - 1 < bytes;
    return own == 0;
}

static void collect_frames(const struct decoded *sample, struct frame_list *list)
{
    if (sample->flags & RECORD_KERNEL)
        push(list, synthetic_avma(SYNTHETIC_KERNEL));
    for (uint32_t i = 0; i < sample->frame_count; i++) {
        if (sample->dropped && i == RECORD_FRAMES_LEAF)
            push(list, synthetic_avma(SYNTHETIC_TRUNCATED));
        if (i == 0 || !is_own_frame(sample->map, sample->frames[i]))
            push(list, sample->frames[i]);
    }
    if (!sample->is_complete)
        push(list, synthetic_avma(SYNTHETIC_TRUNCATED));
}

/* Whether an address is where threads and programs begin: in an entry function, or in the C library. */
static bool is_root(const struct image_map *map, uint64_t avma)
{
    const struct image_mapping *mapping = map ? map_find(map, avma) : NULL;
    if (!mapping || !mapping->module)
        return false;
    uint64_t svma = avma - mapping->bias;
    return svma >= mapping->module->root_start_svma && svma < mapping->module->root_end_svma;
}

static bool ends_at_root(const struct decoded *sample)
{
    uint64_t avma = sample->frames[sample->frame_count - 1] - (sample->frame_count > 1);
    return is_root(sample->map, avma);
}

/* Of a complete stack; those of fibers have but one frame in the C library. */
static void note_thread_root(const struct decoded *sample)
{
    struct image *image = sample->image;
    if (image->thread_root_avmas[0] || sample->tid == image->pid ||
        sample->frame_count <= THREAD_ROOT_FRAMES)
        return;
    const uint64_t *root_avmas = sample->frames + sample->frame_count - THREAD_ROOT_FRAMES;
    if (is_root(sample->map, root_avmas[0] - 1))
        memcpy(image->thread_root_avmas, root_avmas, sizeof(image->thread_root_avmas));
}

static void count(struct collector *collector, const struct decoded *sample)
{
    struct record_summary *summary = collector->summary;
    summary->samples++;
    if (sample->dropped)
        summary->cut[RECORD_CUT_DEEP]++;
    else if (sample->is_complete)
        summary->complete++;
    else
        summary->cut[sample->cut]++;
}

static void write_sample(struct collector *collector, const struct perfdata_sample *sample,
                         struct image *image)
{
    if (collector->is_quiet)
        return;
    perfdata_write_sample(collector->writer, sample);
    image->seen_ns += sample->weight_ns;
    collector->summary->cpu_seen_ns += sample->weight_ns;
}

void stack_write(struct collector *collector, const struct decoded *from)
{
    struct decoded sample = *from;
    if (sample.frame_count == 0) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    if (sample.is_complete && !ends_at_root(&sample)) {
        sample.is_complete = false;
        sample.cut = RECORD_CUT_ROOT;
    }
    if (sample.is_complete)
        note_thread_root(&sample);
    count(collector, &sample);
    struct frame_list list;
    list.count = 0;
    bool plain = is_plain(&sample);
    if (!plain)
        collect_frames(&sample, &list);
    struct perfdata_sample record = {
        .pid = (uint32_t)sample.image->pid,
        .tid = (uint32_t)sample.tid,
        .time_ns = sample.time_ns,
        .weight_ns = sample.weight_ns,
        .frames = plain ? sample.frames : list.frames,
        .frame_count = plain ? sample.frame_count : list.count,
    };
    write_sample(collector, &record, sample.image);
}

void stack_count_end(struct collector *collector, uint64_t weight_ns, uint64_t periods_ns)
{
    if (weight_ns < END_MAX_NS + periods_ns)
        collector->summary->cpu_ends_ns += weight_ns;
}

void stack_write_synthetic(struct collector *collector, struct image *image, pid_t tid,
                           enum synthetic kind, uint64_t weight_ns, uint64_t time_ns)
{
    if (weight_ns == 0)
        return;
    uint64_t frame = synthetic_avma(kind);
    struct perfdata_sample record = {
        .pid = (uint32_t)image->pid,
        .tid = (uint32_t)tid,
        .time_ns = time_ns,
        .weight_ns = weight_ns,
        .frames = &frame,
        .frame_count = 1,
    };
    write_sample(collector, &record, image);
    bool is_end = kind == SYNTHETIC_EXEC || kind == SYNTHETIC_BETWEEN || kind == SYNTHETIC_EXIT;
    if (is_end && !collector->is_quiet)
        stack_count_end(collector, weight_ns, blind_periods_ns(collector, image));
}

static enum record_cut cut_of(uint32_t end)
{
    switch (end) {
    case WALK_UNKNOWN:
        return RECORD_CUT_UNMAPPED;
    case WALK_FOREIGN:
        return RECORD_CUT_FOREIGN;
    case WALK_TOO_LONG:
        return RECORD_CUT_DEEP;
    default:
        return RECORD_CUT_NO_CFI;
    }
}

void stack_take(struct collector *collector, struct image *image, const struct image_map *map,
                pid_t tid, uint64_t time_ns, const uint8_t *record, size_t bytes)
{
    struct record_header header;
    struct record_stack stack;
    if (bytes < sizeof(header) + sizeof(stack)) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    memcpy(&header, record, sizeof(header));
    memcpy(&stack, record + sizeof(header), sizeof(stack));
    bool is_check = header.kind == RECORD_CHECK;
    size_t fixed = sizeof(header) + sizeof(stack) + (is_check ? sizeof(struct record_copy) : 0);
    if (stack.frame_count == 0 || stack.frame_count > RECORD_FRAMES_MAX ||
        bytes < fixed + 8 * (size_t)stack.frame_count) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    struct decoded sample = {
        .image = image,
        .map = map,
        .tid = tid,
        .time_ns = time_ns,
        .weight_ns = header.weight_ns,
        .frames = (const uint64_t *)(const void *)(record + fixed),
        .frame_count = stack.frame_count,
        .dropped = stack.dropped,
        .flags = header.flags,
        .is_complete = stack.end == WALK_ROOT,
        .cut = cut_of(stack.end),
    };
    stack_write(collector, &sample);
    if (is_check)
        miss_check(collector, image, record, bytes);
}
