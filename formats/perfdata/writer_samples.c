/* SPDX-License-Identifier: MIT */
/*
 * SAMPLE records and round marks:
 *
 *     header  [IDENTIFIER] IP TID TIME [ADDR] PERIOD CALLCHAIN [REGS_USER STACK_USER] [WEIGHT]
 */
#include "perfdata/types.h"
#include "perfdata/writer_private.h"

#include <endian.h>
#include <errno.h>

enum {
    SAMPLE_FIXED_BYTES = 48,
    SAMPLE_ID_BYTES = 8,
    SAMPLE_OBJECT_BYTES = 16,  /* ADDR, WEIGHT */
    SAMPLE_NO_COPY_BYTES = 16, /* no registers, no stack */
};

static void note_sample_time(struct perfdata_writer *writer, uint64_t time_ns)
{
    if (time_ns < writer->first_sample_ns)
        writer->first_sample_ns = time_ns;
    if (time_ns > writer->last_sample_ns)
        writer->last_sample_ns = time_ns;
}

/* Words of a callchain besides its user frames: leaf, kernel frames, markers. */
static size_t inner_words(const struct perfdata_sample *sample, bool has_frames)
{
    size_t leaf_words = sample->leaf ? 1 : 0;
    if (sample->kernel_count == 0)
        return leaf_words;
    return 2 * leaf_words + 1 + sample->kernel_count + has_frames;
}

/* Without kernel frames, the sample's own mode holds for all frames:
 *
 *     [leaf] frames
 *     [USER leaf] KERNEL kernel frames USER frames
 */
static void put_callchain(struct buffer *out, const struct perfdata_sample *sample,
                          size_t frame_count)
{
    const bool has_markers = sample->kernel_count > 0;
    if (sample->leaf && has_markers)
        buffer_u64(out, PERFDATA_CONTEXT_USER);
    if (sample->leaf)
        buffer_u64(out, sample->leaf);
    if (has_markers) {
        buffer_u64(out, PERFDATA_CONTEXT_KERNEL);
        buffer_u64s(out, sample->kernel_frames, sample->kernel_count);
    }
    if (frame_count && has_markers)
        buffer_u64(out, PERFDATA_CONTEXT_USER);
    buffer_u64s(out, sample->frames, frame_count);
}

static bool is_kernel(const struct perfdata_sample *sample)
{
    return sample->kernel_count && !sample->leaf;
}

static uint64_t innermost(const struct perfdata_sample *sample)
{
    if (sample->leaf)
        return sample->leaf;
    return sample->kernel_count ? sample->kernel_frames[0] : sample->frames[0];
}

/* [IDENTIFIER], IP, TID, TIME, [ADDR], PERIOD and CALLCHAIN. */
static void put_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample,
                       size_t frame_count, uint64_t time_ns)
{
    struct buffer *out = &writer->pending;
    uint64_t words[7];
    size_t count = 0;
    if (writer->has_ids)
        words[count++] = htole64(writer_event_id(sample->event));
    words[count++] = htole64(innermost(sample));
    words[count++] = htole64(sample->pid | (uint64_t)sample->tid << 32);
    words[count++] = htole64(time_ns);
    if (writer->config.events[sample->event].has_object)
        words[count++] = htole64(sample->object_avma);
    words[count++] = htole64(sample->weight);
    words[count++] = htole64(inner_words(sample, frame_count > 0) + frame_count);
    buffer_append(out, words, count * sizeof(words[0]));
    put_callchain(out, sample, frame_count);
}

/* Of a record without frames, kernel frames and bytes of the stack. */
static size_t fixed_bytes(const struct perfdata_writer *writer,
                          const struct perfdata_sample *sample)
{
    const struct perfdata_event_row *row = &writer->config.events[sample->event];
    size_t bytes = SAMPLE_FIXED_BYTES;
    bytes += writer->has_ids ? SAMPLE_ID_BYTES : 0;
    bytes += row->has_object ? SAMPLE_OBJECT_BYTES : 0;
    bytes += row->registers ? SAMPLE_NO_COPY_BYTES : 0;
    bytes += sample->copy ? 8 + 8 * (size_t)__builtin_popcountll(row->registers) : 0;
    return bytes;
}

static bool is_valid(const struct perfdata_writer *writer, const struct perfdata_sample *sample)
{
    return (sample->frame_count + sample->kernel_count > 0 || sample->leaf) &&
           sample->kernel_count <= PERFDATA_KERNEL_FRAMES_MAX &&
           sample->event < PERFDATA_EVENTS_MAX && writer->config.events[sample->event].name &&
           !(sample->copy && !writer->config.events[sample->event].registers);
}

/* As the kernel writes a copy: a size, bytes, and how many of them are valid. All are where the
 * stack goes on behind the copy. */
static void put_copy(struct buffer *out, const struct perfdata_event_row *row,
                     const struct perfdata_stack_copy *copy, size_t room)
{
    if (!copy) {
        buffer_zeros(out, SAMPLE_NO_COPY_BYTES);
        return;
    }
    size_t size = copy->size < room ? copy->size : room;
    size_t rest = -size % 8;
    if (size == copy->size && !copy->is_full && size + rest < room)
        rest += 8;
    buffer_u64(out, PERFDATA_ABI_64);
    buffer_u64s(out, copy->registers, (size_t)__builtin_popcountll(row->registers));
    buffer_u64(out, size + rest);
    buffer_append(out, copy->bytes, size);
    buffer_zeros(out, rest);
    buffer_u64(out, size);
}

int perfdata_write_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample)
{
    int err = writer_check(writer);
    if (err)
        return err;
    if (!is_valid(writer, sample))
        return -EINVAL;
    /* Longer stacks lose their outermost frames: a record has at most 64 KiB. */
    const struct perfdata_event_row *row = &writer->config.events[sample->event];
    size_t most =
        (RECORD_BYTES_MAX - fixed_bytes(writer, sample)) / 8 - inner_words(sample, !sample->copy);
    size_t frame_count = sample->frame_count < most ? sample->frame_count : most;
    if (sample->copy)
        frame_count = 0;
    uint64_t time_ns = writer_date(writer, sample->time_ns);
    size_t start =
        writer_begin_record(writer, RECORD_SAMPLE, is_kernel(sample) ? MISC_KERNEL : MISC_USER);
    put_sample(writer, sample, frame_count, time_ns);
    if (row->registers)
        put_copy(&writer->pending, row, sample->copy, 8 * most);
    if (row->has_object)
        buffer_u64(&writer->pending, sample->number);
    note_sample_time(writer, time_ns);
    return writer_end_record(writer, start);
}

int perfdata_write_round(struct perfdata_writer *writer)
{
    int err = writer_check(writer);
    if (err)
        return err;
    /* At a mark, perf flushes all events up to the newest time before the previous mark
     * (ordered-events.c): older times are no longer allowed. */
    writer->promised_ns = writer->last_round_ns;
    writer->last_round_ns = writer->newest_ns;
    return writer_end_record(writer, writer_begin_record(writer, RECORD_FINISHED_ROUND, 0));
}
