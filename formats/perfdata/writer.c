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

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { BATCH_BYTES = 256 << 10 };

int writer_check(const struct perfdata_writer *writer)
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
    int err = writer_check(writer);
    if (err == 0)
        writer->err = err = write_batch(writer);
    return err;
}

size_t writer_begin_record(struct perfdata_writer *writer, enum record_type type, unsigned misc)
{
    size_t start = writer->pending.size;
    buffer_u32(&writer->pending, type);
    buffer_u16(&writer->pending, (uint16_t)misc);
    buffer_u16(&writer->pending, 0); /* size: set at the end */
    return start;
}

int writer_end_record(struct perfdata_writer *writer, size_t start)
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

uint64_t writer_date(struct perfdata_writer *writer, uint64_t time_ns)
{
    if (time_ns < writer->promised_ns)
        time_ns = writer->promised_ns;
    if (time_ns > writer->newest_ns)
        writer->newest_ns = time_ns;
    return time_ns;
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
    writer->has_ids = writer_has_ids(config);
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

int perfdata_set_feature(struct perfdata_writer *writer, unsigned bit, const void *bytes,
                         size_t size)
{
    int err = writer_check(writer);
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
