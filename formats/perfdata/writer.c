/* SPDX-License-Identifier: MIT */
/*
 * Records are buffered and written in batches. After each batch data.size is advanced, so the file
 * is valid at any time: a killed recorder loses only buffered records, a full disk only records
 * beyond its capacity.
 */
#include "perfdata/writer.h"

#include "base/containers/array.h"
#include "base/files/io.h"
#include "perfdata/zstd/pack.h"
#include "perfdata/writer_private.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum {
    BATCH_BYTES = 256 << 10,
    SAMPLE_FIXED_BYTES = 56,
    SAMPLE_OBJECT_BYTES = 16, /* ADDR, WEIGHT */
    NAME_BYTES_MAX = 15,      /* the kernel's TASK_COMM_LEN, and perf's */
    PATH_BYTES_MAX = 4095,    /* perf copies paths into PATH_MAX bytes */
    BUILD_IDS_MAX = 8192,     /* entries of the BUILD_ID table, in memory until the end */
};

/* Trailer of all records except SAMPLE and ROUND; readers take the time from here. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t id; /* of the event; 0: the first one */
};

static int check_open(const struct perfdata_writer *writer)
{
    if (writer->err)
        return writer->err;
    return writer->finished ? -EINVAL : 0;
}

/* Everything before `end` is in the file. */
static int write_data_size(const struct perfdata_writer *writer)
{
    struct buffer size = {0};
    buffer_u64(&size, writer->end - writer->at_data);
    int err =
        size.failed ? -ENOMEM : io_pwrite(writer->fd, size.bytes, size.size, HEADER_AT_DATA_SIZE);
    buffer_free(&size);
    return err;
}

/* Disk full: writes as many whole records as fit. */
static void write_what_fits(struct perfdata_writer *writer, const struct buffer *records)
{
    const uint8_t *record = records->bytes, *end = record + records->size;
    size_t bytes;
    for (; end - record >= RECORD_HEADER_BYTES; record += bytes) {
        bytes = record[6] | (size_t)record[7] << 8;
        if (io_pwrite(writer->fd, record, bytes, writer->end) != 0)
            break;
        writer->end += bytes;
    }
    write_data_size(writer);
}

static int write_batch(struct perfdata_writer *writer)
{
    struct buffer *pending = &writer->pending;
    if (pending->failed)
        return -ENOMEM;
    if (pending->size == 0)
        return 0;
    struct buffer *records = writer->config.compression_level ? &writer->packed : pending;
    buffer_clear(&writer->packed);
    int err = writer->config.compression_level
                  ? pack_records(records, pending, writer->config.compression_level)
                  : 0;
    if (err)
        return err;
    err = io_pwrite(writer->fd, records->bytes, records->size, writer->end);
    if (err) {
        write_what_fits(writer, records);
        return err;
    }
    writer->end += records->size;
    buffer_clear(pending);
    return write_data_size(writer);
}

int perfdata_checkpoint(struct perfdata_writer *writer)
{
    int err = check_open(writer);
    if (err == 0)
        writer->err = err = write_batch(writer);
    return err;
}

/* Where the record starts in pending. */
static size_t begin_record(struct perfdata_writer *writer, enum record_type type, unsigned misc)
{
    size_t start = writer->pending.size;
    buffer_u32(&writer->pending, type);
    buffer_u16(&writer->pending, (uint16_t)misc);
    buffer_u16(&writer->pending, 0); /* size: set at the end */
    return start;
}

static int end_record(struct perfdata_writer *writer, size_t start)
{
    struct buffer *pending = &writer->pending;
    if (!pending->failed) {
        size_t size = pending->size - start;
        pending->bytes[start + 6] = (uint8_t)size;
        pending->bytes[start + 7] = (uint8_t)(size >> 8);
    }
    if (pending->failed || pending->size >= BATCH_BYTES)
        writer->err = write_batch(writer);
    return writer->err;
}

/* Raises times older than the last round's guarantee. */
static uint64_t date(struct perfdata_writer *writer, uint64_t time_ns)
{
    if (time_ns < writer->promised_ns)
        time_ns = writer->promised_ns;
    if (time_ns > writer->newest_ns)
        writer->newest_ns = time_ns;
    return time_ns;
}

static int end_with_trailer(struct perfdata_writer *writer, size_t start, struct trailer trailer)
{
    buffer_u32(&writer->pending, trailer.pid);
    buffer_u32(&writer->pending, trailer.tid);
    buffer_u64(&writer->pending, date(writer, trailer.time_ns));
    buffer_u64(&writer->pending, trailer.id ? trailer.id : writer->main_id);
    return end_record(writer, start);
}

/* At least a terminator; records are multiples of 8 bytes. */
static void put_padded_text(struct buffer *out, const char *text, size_t limit)
{
    size_t length = strnlen(text, limit);
    buffer_append(out, text, length);
    buffer_zeros(out, 8 - length % 8);
}

static int write_first_bytes(struct perfdata_writer *writer)
{
    struct buffer head = {0}, records = {0};
    buffer_u32(&records, RECORD_FINISHED_ROUND); /* perf rejects files without data */
    buffer_u16(&records, 0);
    buffer_u16(&records, RECORD_HEADER_BYTES);
    writer_put_updates(&records, &writer->config);
    writer->at_data = writer_put_header(&head, &writer->config, records.size);
    buffer_append(&head, records.bytes, records.size);
    head.failed |= records.failed;
    int err = head.failed ? -ENOMEM : io_pwrite(writer->fd, head.bytes, head.size, 0);
    writer->end = head.size;
    buffer_free(&head);
    buffer_free(&records);
    return err;
}

int perfdata_writer_open(struct perfdata_writer **out, int fd, const struct perfdata_config *config)
{
    size_t first = 0;
    *out = NULL;
    while (first < PERFDATA_EVENTS_MAX && !config->events[first].name)
        first++;
    if (first == PERFDATA_EVENTS_MAX)
        return -EINVAL;
    struct perfdata_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return -ENOMEM;
    writer->fd = fd;
    writer->config = *config;
    writer->first_sample_ns = UINT64_MAX;
    writer->main_id = writer_event_id(first);
    writer->build_ids = intern_new();
    int err = writer->build_ids ? write_first_bytes(writer) : -ENOMEM;
    if (err)
        perfdata_writer_close(writer);
    else
        *out = writer;
    return err;
}

void perfdata_writer_close(struct perfdata_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < writer->feature_count; i++)
        buffer_free(&writer->features[i].payload);
    free(writer->features);
    intern_free(writer->build_ids);
    buffer_free(&writer->pending);
    buffer_free(&writer->packed);
    free(writer);
}

void perfdata_observe_tasks(struct perfdata_writer *writer,
                            const struct perfdata_task_observer *observer)
{
    writer->observer = *observer;
}

static void note_start(struct perfdata_writer *writer, const struct perfdata_task *task,
                       bool is_fork)
{
    const struct perfdata_task_observer *observer = &writer->observer;
    if (observer->started)
        observer->started(observer->context, task->tid, is_fork, date(writer, task->time_ns));
}

int perfdata_write_comm(struct perfdata_writer *writer, const struct perfdata_task *task,
                        const char *name, bool is_exec)
{
    int err = check_open(writer);
    if (err)
        return err;
    if (is_exec)
        note_start(writer, task, false);
    size_t start = begin_record(writer, RECORD_COMM, is_exec ? MISC_COMM_EXEC : 0);
    buffer_u32(&writer->pending, task->pid);
    buffer_u32(&writer->pending, task->tid);
    put_padded_text(&writer->pending, name, NAME_BYTES_MAX);
    return end_with_trailer(writer, start,
                            (struct trailer){task->pid, task->tid, task->time_ns, 0});
}

static int write_birth_or_death(struct perfdata_writer *writer, enum record_type type,
                                const struct perfdata_task *task)
{
    int err = check_open(writer);
    if (err)
        return err;
    size_t start = begin_record(writer, type, 0);
    buffer_u32(&writer->pending, task->pid);
    buffer_u32(&writer->pending, task->parent_pid);
    buffer_u32(&writer->pending, task->tid);
    buffer_u32(&writer->pending, task->parent_tid);
    buffer_u64(&writer->pending, date(writer, task->time_ns));
    return end_with_trailer(writer, start,
                            (struct trailer){task->pid, task->tid, task->time_ns, 0});
}

int perfdata_write_fork(struct perfdata_writer *writer, const struct perfdata_task *task)
{
    note_start(writer, task, true);
    return write_birth_or_death(writer, RECORD_FORK, task);
}

int perfdata_write_exit(struct perfdata_writer *writer, const struct perfdata_task *task)
{
    const struct perfdata_task_observer *observer = &writer->observer;
    if (observer->ended)
        observer->ended(observer->context, task->tid, date(writer, task->time_ns));
    return write_birth_or_death(writer, RECORD_EXIT, task);
}

int perfdata_write_value(struct perfdata_writer *writer, const struct perfdata_task *task,
                         uint32_t event, uint64_t value)
{
    int err = check_open(writer);
    if (err)
        return err;
    if (event >= PERFDATA_EVENTS_MAX || !writer->config.events[event].name)
        return -EINVAL;
    size_t start = begin_record(writer, RECORD_READ, 0);
    buffer_u32(&writer->pending, task->pid);
    buffer_u32(&writer->pending, task->tid);
    buffer_u64(&writer->pending, value);
    return end_with_trailer(
        writer, start,
        (struct trailer){task->pid, task->tid, task->time_ns, writer_event_id(event)});
}

static void put_build_id(struct buffer *out, const struct perfdata_mapping *mapping)
{
    buffer_append(out, mapping->build_id, mapping->build_id_bytes);
    buffer_zeros(out, BUILD_ID_BYTES - mapping->build_id_bytes);
}

static unsigned cpu_mode(const struct perfdata_mapping *mapping)
{
    return mapping->is_kernel ? MISC_KERNEL : MISC_USER;
}

/* The name of the kernel's image ends with the name of a symbol in MMAP2 only. */
static size_t build_id_path_bytes(const struct perfdata_mapping *mapping)
{
    return mapping->is_kernel ? strcspn(mapping->path, "]") + 1
                              : strnlen(mapping->path, PATH_BYTES_MAX);
}

/* An entry of the BUILD_ID feature, for readers without support for build-ids in MMAP2; lookup
 * by path. */
static int remember_build_id(struct perfdata_writer *writer, const struct perfdata_mapping *mapping)
{
    if (intern_count(writer->build_ids) >= BUILD_IDS_MAX)
        return 0;
    struct buffer entry = {0};
    size_t length = build_id_path_bytes(mapping), path_bytes = length / 8 * 8 + 8;
    buffer_u32(&entry, 0);
    buffer_u16(&entry, (uint16_t)(cpu_mode(mapping) | MISC_BUILD_ID_SIZE));
    buffer_u16(&entry, (uint16_t)(RECORD_HEADER_BYTES + 4 + BUILD_ID_BYTES + 4 + path_bytes));
    buffer_u32(&entry, UINT32_MAX); /* of any process */
    put_build_id(&entry, mapping);
    buffer_u32(&entry, (uint32_t)mapping->build_id_bytes);
    put_padded_text(&entry, mapping->path, length);
    bool added =
        !entry.failed && intern_add(writer->build_ids, entry.bytes, entry.size) != INTERN_NONE;
    buffer_free(&entry);
    return added ? 0 : -ENOMEM;
}

/* With MISC_MMAP_BUILD_ID, a build-id takes the place of device and inode: size, padding, 20
 * bytes. */
static void put_file_identity(struct buffer *out, const struct perfdata_mapping *mapping)
{
    if (mapping->build_id_bytes == 0) {
        buffer_zeros(out, 24); /* device, inode, inode generation */
        return;
    }
    buffer_u32(out, (uint32_t)mapping->build_id_bytes);
    put_build_id(out, mapping);
}

int perfdata_write_mapping(struct perfdata_writer *writer, const struct perfdata_mapping *mapping)
{
    int err = check_open(writer);
    if (err)
        return err;
    bool has_build_id = mapping->build_id_bytes != 0;
    if (mapping->build_id_bytes > BUILD_ID_BYTES)
        return -EINVAL;
    if (has_build_id && (writer->err = remember_build_id(writer, mapping)) != 0)
        return writer->err;
    struct buffer *out = &writer->pending;
    size_t start = begin_record(writer, RECORD_MMAP2,
                                cpu_mode(mapping) | (has_build_id ? MISC_MMAP_BUILD_ID : 0));
    buffer_u32(out, mapping->pid);
    buffer_u32(out, mapping->tid);
    buffer_u64(out, mapping->start_avma);
    buffer_u64(out, mapping->bytes);
    buffer_u64(out, mapping->file_offset);
    put_file_identity(out, mapping);
    buffer_u32(out, mapping->protection);
    buffer_u32(out, 2); /* flags: MAP_PRIVATE, as program files are mapped */
    put_padded_text(out, mapping->path, PATH_BYTES_MAX);
    return end_with_trailer(writer, start,
                            (struct trailer){mapping->pid, mapping->tid, mapping->time_ns, 0});
}

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
    size_t leaf_words = sample->leaf ? 2 : 0;
    size_t kernel_words = sample->kernel_count ? sample->kernel_count + 1 : 0;
    return leaf_words + kernel_words + (has_frames && (kernel_words || !leaf_words));
}

/* Each part behind the marker of its side:
 *
 *     [USER leaf] [KERNEL kernel frames] USER frames
 */
static void put_callchain(struct buffer *out, const struct perfdata_sample *sample,
                          size_t frame_count)
{
    if (sample->leaf) {
        buffer_u64(out, PERFDATA_CONTEXT_USER);
        buffer_u64(out, sample->leaf);
    }
    if (sample->kernel_count) {
        buffer_u64(out, PERFDATA_CONTEXT_KERNEL);
        buffer_u64s(out, sample->kernel_frames, sample->kernel_count);
    }
    if (frame_count && (sample->kernel_count || !sample->leaf))
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

/* IDENTIFIER, IP, TID, TIME, [ADDR], PERIOD and CALLCHAIN. */
static void put_sample(struct buffer *out, const struct perfdata_sample *sample, bool has_object,
                       size_t frame_count, uint64_t time_ns)
{
    uint64_t words[SAMPLE_FIXED_BYTES / 8];
    size_t count = 0;
    words[count++] = htole64(writer_event_id(sample->event));
    words[count++] = htole64(innermost(sample));
    words[count++] = htole64(sample->pid | (uint64_t)sample->tid << 32);
    words[count++] = htole64(time_ns);
    if (has_object)
        words[count++] = htole64(sample->object_avma);
    words[count++] = htole64(sample->weight);
    words[count++] = htole64(inner_words(sample, frame_count > 0) + frame_count);
    buffer_append(out, words, count * sizeof(words[0]));
    put_callchain(out, sample, frame_count);
}

int perfdata_write_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample)
{
    int err = check_open(writer);
    if (err)
        return err;
    if ((sample->frame_count + sample->kernel_count == 0 && !sample->leaf) ||
        sample->kernel_count > PERFDATA_KERNEL_FRAMES_MAX || sample->event >= PERFDATA_EVENTS_MAX ||
        !writer->config.events[sample->event].name)
        return -EINVAL;
    /* Longer stacks lose their outermost frames: a record has at most 64 KiB. */
    bool has_object = writer->config.events[sample->event].has_object;
    size_t fixed_bytes = SAMPLE_FIXED_BYTES + (has_object ? SAMPLE_OBJECT_BYTES : 0);
    size_t most = (RECORD_BYTES_MAX - fixed_bytes) / 8 - inner_words(sample, true);
    size_t frame_count = sample->frame_count < most ? sample->frame_count : most;
    struct buffer *out = &writer->pending;
    uint64_t time_ns = date(writer, sample->time_ns);
    size_t start = begin_record(writer, RECORD_SAMPLE, is_kernel(sample) ? MISC_KERNEL : MISC_USER);
    put_sample(out, sample, has_object, frame_count, time_ns);
    if (has_object)
        buffer_u64(out, sample->number);
    note_sample_time(writer, time_ns);
    return end_record(writer, start);
}

int perfdata_write_round(struct perfdata_writer *writer)
{
    int err = check_open(writer);
    if (err)
        return err;
    /* At a mark, perf flushes all events up to the newest time before the previous mark
     * (ordered-events.c): older times are no longer allowed. */
    writer->promised_ns = writer->last_round_ns;
    writer->last_round_ns = writer->newest_ns;
    return end_record(writer, begin_record(writer, RECORD_FINISHED_ROUND, 0));
}

int perfdata_set_feature(struct perfdata_writer *writer, unsigned bit, const void *bytes,
                         size_t size)
{
    int err = check_open(writer);
    if (err)
        return err;
    if (bit < FEATURE_PRIVATE_MIN || bit >= HEADER_FEATURE_BITS)
        return -EINVAL;
    struct private_feature *feature = NULL;
    for (size_t i = 0; i < writer->feature_count; i++)
        if (writer->features[i].bit == bit)
            feature = &writer->features[i];
    if (!feature)
        feature = ARRAY_PUSH(writer->features, writer->feature_count, writer->feature_capacity);
    if (!feature)
        return -ENOMEM;
    feature->bit = bit;
    buffer_clear(&feature->payload);
    buffer_append(&feature->payload, bytes, size);
    return feature->payload.failed ? -ENOMEM : 0;
}

/* The feature bits are written last, in a single write: before, the file is valid without
 * features. */
int perfdata_finish(struct perfdata_writer *writer)
{
    int err = perfdata_checkpoint(writer);
    if (err)
        return err;
    struct buffer features = {0}, words = {0};
    uint64_t bits[HEADER_FEATURE_BITS / 64] = {0};
    writer_put_features(&features, writer, writer->end, bits);
    for (size_t i = 0; i < HEADER_FEATURE_BITS / 64; i++)
        buffer_u64(&words, bits[i]);
    err = features.failed || words.failed ? -ENOMEM : 0;
    if (err == 0)
        err = io_pwrite(writer->fd, features.bytes, features.size, writer->end);
    if (err == 0)
        err = io_pwrite(writer->fd, words.bytes, words.size, HEADER_AT_FEATURES);
    buffer_free(&features);
    buffer_free(&words);
    writer->err = err;
    writer->finished = true;
    return err;
}

int perfdata_free_bytes(const struct perfdata_writer *writer, uint64_t *bytes)
{
    struct statvfs status;
    if (fstatvfs(writer->fd, &status) != 0)
        return -errno;
    *bytes = (uint64_t)status.f_bavail * status.f_frsize;
    return 0;
}

uint64_t perfdata_bytes_written(const struct perfdata_writer *writer)
{
    return writer->end + writer->pending.size;
}
