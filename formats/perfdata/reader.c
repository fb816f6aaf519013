/* SPDX-License-Identifier: MIT */
#include "perfdata/reader.h"

#include "base/cursor.h"
#include "perfdata/events.h"
#include "perfdata/features.h"
#include "perfdata/header.h"
#include "perfdata/record.h"
#include "perfdata/sample.h"
#include "perfdata/tracing.h"
#include "perfdata/window.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perfdata_reader {
    struct file_header header;
    struct event_table events;
    struct feature_set features;
    struct window window;
    uint64_t at;  /* file offset of the next record */
    uint64_t end; /* of the records; drawn in to the first damage */
    char damage[160];
    struct sample_words words;
};

__attribute__((format(printf, 2, 3))) static void note_damage(struct perfdata_reader *reader,
                                                              const char *format, ...)
{
    if (reader->damage[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(reader->damage, sizeof(reader->damage), format, args);
    va_end(args);
}

/* Data behind the damage is not looked for: without trustworthy sizes nothing there is a record. */
static void stop_at_damage(struct perfdata_reader *reader, const char *what)
{
    note_damage(reader, "%s at byte %llu: nothing behind it was read", what,
                (unsigned long long)reader->at);
    reader->end = reader->at;
}

static int refuse_unreadable(const struct file_header *header, const char *path,
                             struct error *error)
{
    if (file_header_has(header, FEATURE_COMPRESSED))
        return error_set(error, -ENOTSUP,
                         "the records of %s are compressed: record again without perf record -z",
                         path);
    if (file_header_has(header, FEATURE_DIR_FORMAT))
        return error_set(error, -ENOTSUP,
                         "the records of %s lie in several files: record again without perf record "
                         "--threads",
                         path);
    return 0;
}

/* A recorder that was killed has not noted the size of its data: then everything to the end is. */
static void find_records(struct perfdata_reader *reader)
{
    const struct file_header *header = &reader->header;
    bool never_finished = header->data.size == 0;
    reader->at = header->data.offset;
    reader->end = header->file_bytes;
    if (never_finished)
        note_damage(reader, "the recording was never finished: it may end early");
    else if (!section_is_inside(header->data, header->file_bytes))
        note_damage(
            reader, "the file is cut off: %llu bytes of records are missing",
            (unsigned long long)(header->data.size - (header->file_bytes - header->data.offset)));
    else
        reader->end = header->data.offset + header->data.size;
}

static int open_features(struct perfdata_reader *reader, int fd)
{
    int err = feature_set_open(&reader->features, &reader->header, fd);
    if (err == -EBADMSG)
        note_damage(reader, "the table behind the records, with names and build-ids, is damaged");
    else if (err)
        return err;
    struct cursor events = feature_cursor(&reader->features, FEATURE_EVENT_DESC);
    return event_table_describe(&reader->events, events);
}

int perfdata_reader_open(struct perfdata_reader **out, int fd, const char *path,
                         struct error *error)
{
    *out = NULL;
    struct perfdata_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return error_set(error, -ENOMEM, "cannot read %s: out of memory", path);
    int err = file_header_read(&reader->header, fd, path, error);
    if (err == 0)
        err = refuse_unreadable(&reader->header, path, error);
    if (err == 0)
        err = event_table_read(&reader->events, &reader->header, fd, path, error);
    if (err)
        goto out;
    find_records(reader);
    err = open_features(reader, fd);
    if (err == 0)
        err = window_open(&reader->window, fd, reader->header.file_bytes);
    if (err)
        error_set(error, err, "cannot read %s: %s", path, strerror(-err));
out:
    if (err)
        perfdata_reader_close(reader);
    else
        *out = reader;
    return err;
}

void perfdata_reader_close(struct perfdata_reader *reader)
{
    if (!reader)
        return;
    window_close(&reader->window);
    feature_set_close(&reader->features);
    event_table_free(&reader->events);
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

/* The record at reader->at as a cursor behind its header. 1, 0 at the end or at damage, or a
 * negative errno. */
static int get_record(struct perfdata_reader *reader, struct perfdata_event *event,
                      struct cursor *body)
{
    uint64_t left = reader->end - reader->at;
    const uint8_t *bytes;
    if (left == 0)
        return 0;
    if (left < RECORD_HEADER_BYTES) {
        stop_at_damage(reader, "the file is cut off inside a record");
        return 0;
    }
    int err = window_get(&reader->window, reader->at, RECORD_HEADER_BYTES, &bytes);
    if (err)
        return err;
    struct cursor c = cursor_of(bytes, RECORD_HEADER_BYTES);
    c.swapped = reader->header.swapped;
    event->type = cursor_u32(&c);
    event->misc = cursor_u16(&c);
    uint16_t size = cursor_u16(&c);
    if (size < RECORD_HEADER_BYTES || size > left) {
        stop_at_damage(reader, size > left ? "the file is cut off inside a record"
                                           : "a record of impossible size");
        return 0;
    }
    err = window_get(&reader->window, reader->at, size, &bytes);
    if (err)
        return err;
    *body = cursor_of(bytes + RECORD_HEADER_BYTES, size - (size_t)RECORD_HEADER_BYTES);
    body->swapped = reader->header.swapped;
    return 1;
}

static bool decode(struct perfdata_reader *reader, struct cursor body, struct perfdata_event *event)
{
    if (event->type == RECORD_SAMPLE)
        return sample_decode(body, &reader->events, &reader->words, event);
    return record_decode(body, &reader->events, &reader->features, &reader->words, event);
}

/* AUXTRACE is followed by as many bytes of trace as its first word says. */
static bool step_over_payload(struct perfdata_reader *reader, struct cursor body, uint32_t type)
{
    uint64_t payload = type == RECORD_AUXTRACE ? cursor_u64(&body) : 0;
    if (body.failed || payload > reader->end - reader->at)
        return false;
    reader->at += payload;
    return true;
}

int perfdata_next(struct perfdata_reader *reader, struct perfdata_event *event)
{
    struct cursor body;
    *event = (struct perfdata_event){.kind = PERFDATA_OTHER, .cpu = UINT32_MAX};
    int found = get_record(reader, event, &body);
    if (found <= 0)
        return found;
    if (event->type == RECORD_COMPRESSED || event->type == RECORD_COMPRESSED2) {
        stop_at_damage(reader, "compressed records, which cannot be read (perf record -z),");
        return 0;
    }
    if (!decode(reader, body, event)) {
        stop_at_damage(reader, "a malformed record");
        return 0;
    }
    reader->at += RECORD_HEADER_BYTES + body.size;
    if (!step_over_payload(reader, body, event->type)) {
        stop_at_damage(reader, "a trace that is cut off");
        return 0;
    }
    return 1;
}

void perfdata_rewind(struct perfdata_reader *reader)
{
    reader->at = reader->header.data.offset;
}

const char *perfdata_damage(const struct perfdata_reader *reader)
{
    return reader->damage[0] ? reader->damage : NULL;
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

const struct perfdata_facts *perfdata_facts(struct perfdata_reader *reader)
{
    return &reader->features.facts;
}
