/* SPDX-License-Identifier: MIT */
#include "perfdata/reader.h"

#include "base/containers/cursor.h"
#include "base/files/foreign_file.h"
#include "perfdata/read/events.h"
#include "perfdata/read/features.h"
#include "perfdata/header.h"
#include "perfdata/read/pipe.h"
#include "perfdata/read/record.h"
#include "perfdata/read/sample.h"
#include "perfdata/read/stream.h"
#include "perfdata/read/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct perfdata_reader {
    int file; /* owned if opened inside a directory */
    bool is_directory;
    struct file_header header;
    struct event_table events;
    struct feature_set features;
    struct stream stream;
    /* NULL before the first record. Not zeroed: 360 KiB, mostly unused in most files. */
    struct sample_words *words;
};

static int cannot_read(const char *path, int err, struct error *error)
{
    return error_set(error, err, "cannot read %s: %s", path, strerror(-err));
}

/* perf record --threads leaves a directory with the header in the file "data". The author of the
 * directory may have placed links, devices and FIFOs there, so only regular files are opened. */
static int open_directory(struct perfdata_reader *reader, int fd, const char *path,
                          struct error *error)
{
    struct stat status;
    reader->file = fd;
    if (fstat(fd, &status) != 0)
        return cannot_read(path, -errno, error);
    if (!S_ISDIR(status.st_mode))
        return 0;
    reader->file = foreign_file_open_at(fd, "data", NULL);
    if (reader->file < 0)
        return error_set(error, reader->file, "%s is a directory without a perf.data file: %s",
                         path, foreign_file_error(reader->file));
    reader->is_directory = true;
    return 0;
}

static int refuse_unreadable(const struct perfdata_reader *reader, const char *path,
                             struct error *error)
{
    if (file_header_has(&reader->header, FEATURE_COMPRESSED) && !unpacker_is_there())
        return error_set(
            error, -ENOTSUP,
            "the records of %s are compressed, but libzstd is missing, or rec was built without "
            "zstd: record again without perf record -z",
            path);
    if (file_header_has(&reader->header, FEATURE_DIR_FORMAT) && !reader->is_directory)
        return error_set(
            error, -ENOTSUP,
            "most records of %s are in other files of the directory: give the directory instead",
            path);
    return 0;
}

static int open_features(struct perfdata_reader *reader)
{
    int err = feature_set_open(&reader->features, &reader->header, reader->file);
    if (err == -EBADMSG)
        stream_note_damage(&reader->stream,
                           "the table behind the records, with names and build-ids, is damaged");
    else if (err)
        return err;
    /* In a pipe, events and features are records in front of the data. */
    if (reader->header.is_pipe) {
        err = pipe_read(&reader->stream, &reader->header, &reader->events, &reader->features);
        if (err)
            return err;
    }
    struct cursor events = feature_cursor(&reader->features, FEATURE_EVENT_DESC);
    err = event_table_describe(&reader->events, events);
    const char *names = feature_meta_info(&reader->features, "event_type_info");
    if (err == 0 && names)
        err = event_table_name(&reader->events, names);
    return err ? err : feature_set_read(&reader->features);
}

static int open_records(struct perfdata_reader *reader, int directory, const char *path,
                        struct error *error)
{
    stream_open(&reader->stream, &reader->header, reader->file, directory);
    int err = open_features(reader);
    if (err)
        return cannot_read(path, err, error);
    if (reader->events.count == 0)
        return error_set(error, -EBADMSG,
                         "%s has no event descriptions: the file is truncated or damaged", path);
    return refuse_unreadable(reader, path, error);
}

int perfdata_reader_open(struct perfdata_reader **out, int fd, const char *path,
                         struct error *error)
{
    *out = NULL;
    struct perfdata_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return error_set(error, -ENOMEM, "cannot read %s: out of memory", path);
    int err = open_directory(reader, fd, path, error);
    if (err == 0)
        err = file_header_read(&reader->header, reader->file, path, error);
    if (err == 0 && !reader->header.is_pipe)
        err = event_table_read(&reader->events, &reader->header, reader->file, path, error);
    if (err == 0)
        err = open_records(reader, reader->is_directory ? fd : -1, path, error);
    if (err)
        perfdata_reader_close(reader);
    else
        *out = reader;
    return err;
}

void perfdata_end_records(struct perfdata_reader *reader)
{
    stream_close(&reader->stream);
    reader->stream.window = (struct window){.fd = -1};
    free(reader->words);
    reader->words = NULL;
}

void perfdata_reader_close(struct perfdata_reader *reader)
{
    if (!reader)
        return;
    perfdata_end_records(reader);
    feature_set_close(&reader->features);
    event_table_free(&reader->events);
    if (reader->is_directory)
        close(reader->file);
    free(reader);
}

size_t perfdata_attr_count(const struct perfdata_reader *reader)
{
    return reader->events.count;
}

const struct perfdata_attr *perfdata_attr(const struct perfdata_reader *reader, size_t index)
{
    return index < reader->events.count ? &reader->events.attrs[index].shown : NULL;
}

bool perfdata_decode(struct perfdata_reader *reader, const struct perfdata_record *record,
                     struct perfdata_event *event)
{
    struct cursor body = {
        .bytes = record->body, .size = record->body_bytes, .swapped = reader->header.swapped};
    memset(event, 0, sizeof(*event));
    event->kind = PERFDATA_OTHER;
    event->record = *record;
    event->cpu = UINT32_MAX;
    bool is_whole =
        record->type == RECORD_SAMPLE
            ? sample_decode(&body, &reader->events, reader->words, event)
            : record_decode(body, &reader->events, &reader->features, reader->words, event);
    if (!is_whole)
        stream_note_damage(&reader->stream, "a malformed record was left out");
    return is_whole;
}

bool perfdata_find_stack(const struct perfdata_reader *reader, const struct perfdata_record *record,
                         struct perfdata_stack *stack)
{
    const struct cursor body = {
        .bytes = record->body, .size = record->body_bytes, .swapped = reader->header.swapped};
    return record->type == RECORD_SAMPLE && record->attr_index < reader->events.count &&
           sample_find_stack(&body, &reader->events.attrs[record->attr_index], stack);
}

int perfdata_next_record(struct perfdata_reader *reader, struct perfdata_record *out)
{
    struct record record;
    if (!reader->words && !(reader->words = malloc(sizeof(*reader->words))))
        return -ENOMEM;
    int found = stream_next(&reader->stream, &record);
    if (found <= 0)
        return found;
    *out = (struct perfdata_record){.type = record.type,
                                    .misc = record.misc,
                                    .ends_round = record.type == RECORD_FINISHED_ROUND,
                                    .body = record.body.bytes,
                                    .body_bytes = (uint32_t)record.body.size,
                                    .block = record.block};
    if (record.type == RECORD_SAMPLE)
        sample_peek(&record.body, &reader->events, out);
    else
        out->time_ns = record_time(record.body, record.type, &reader->events);
    int err =
        record.type == RECORD_EVENT_UPDATE ? event_table_update(&reader->events, record.body) : 0;
    return err ? err : 1;
}

int perfdata_next(struct perfdata_reader *reader, struct perfdata_event *event)
{
    struct perfdata_record record;
    int found;
    while ((found = perfdata_next_record(reader, &record)) > 0)
        if (perfdata_decode(reader, &record, event))
            break;
    return found;
}

bool perfdata_hold(const struct perfdata_record *record)
{
    if (record->block)
        window_block_hold(record->block);
    return record->block != NULL;
}

void perfdata_release(const struct perfdata_record *record)
{
    window_block_release(record->block);
}

int perfdata_rewind(struct perfdata_reader *reader)
{
    return stream_rewind(&reader->stream);
}

const char *perfdata_damage(const struct perfdata_reader *reader)
{
    return reader->stream.damage[0] ? reader->stream.damage : NULL;
}

/* A private feature means an added symbol store, not the end of the recording. */
bool perfdata_is_unfinished(const struct perfdata_reader *reader)
{
    for (unsigned bit = 0; bit < FEATURE_PRIVATE_MIN; bit++)
        if (file_header_has(&reader->header, bit))
            return false;
    return !reader->header.is_pipe;
}

bool perfdata_field(struct perfdata_reader *reader, size_t attr_index, const char *name,
                    struct perfdata_field *field)
{
    const struct perfdata_attr *attr = perfdata_attr(reader, attr_index);
    if (!attr || attr->type != ATTR_TYPE_TRACEPOINT)
        return false;
    struct cursor payload = feature_cursor(&reader->features, FEATURE_TRACING_DATA);
    return tracing_field(tracing_format(payload, attr->config), name, field);
}

uint64_t perfdata_field_value(const struct perfdata_reader *reader,
                              const struct perfdata_event *event, struct perfdata_field field)
{
    struct cursor c = cursor_of(event->raw, event->raw_bytes);
    c.swapped = reader->header.swapped;
    cursor_seek(&c, field.offset);
    /* Other sizes are arrays or strings. */
    switch (field.bytes) {
    case 1:
        return field.is_signed ? (uint64_t)(int8_t)cursor_u8(&c) : cursor_u8(&c);
    case 2:
        return field.is_signed ? (uint64_t)(int16_t)cursor_u16(&c) : cursor_u16(&c);
    case 4:
        return field.is_signed ? (uint64_t)(int32_t)cursor_u32(&c) : cursor_u32(&c);
    case 8:
        return cursor_u64(&c);
    default:
        return 0;
    }
}

const uint8_t *perfdata_feature(struct perfdata_reader *reader, unsigned bit, size_t *size)
{
    return feature_payload(&reader->features, bit, size);
}

void perfdata_forget_feature(struct perfdata_reader *reader, unsigned bit)
{
    feature_forget(&reader->features, bit);
}

const struct perfdata_facts *perfdata_facts(struct perfdata_reader *reader)
{
    return &reader->features.facts;
}
