/* SPDX-License-Identifier: MIT */
#include "perfdata/read/stream.h"

#include "base/files/foreign_file.h"
#include "base/prefetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void stream_note_damage(struct stream *stream, const char *format, ...)
{
    if (stream->damage[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(stream->damage, sizeof(stream->damage), format, args);
    va_end(args);
}

void stream_stop(struct stream *stream, const char *what)
{
    if (stream->part_file >= 0)
        stream_note_damage(stream, "%s in data.%u at byte %llu: the rest was not read", what,
                           stream->next_part - 1, (unsigned long long)stream->record_at);
    else
        stream_note_damage(stream, "%s at byte %llu: the rest was not read", what,
                           (unsigned long long)stream->record_at);
    stream->end = stream->at;
    unpacker_free(stream->unpacker);
    stream->unpacker = NULL;
}

/* A killed recorder leaves the data size 0; the data then extends to the end of the file. */
static void find_records(struct stream *stream, const struct file_header *header)
{
    struct section data = header->data;
    uint64_t left = header->file_bytes - data.offset;
    if (header->is_pipe) {
        stream->first = data;
        return;
    }
    if (data.size == 0)
        stream_note_damage(stream, "the recording was not finished: records may be missing");
    else if (data.size > left)
        stream_note_damage(stream, "the file is cut off: %llu bytes of records are missing",
                           (unsigned long long)(data.size - left));
    bool is_whole = data.size != 0 && data.size <= left;
    stream->first = (struct section){data.offset, is_whole ? data.size : left};
}

void stream_open(struct stream *stream, const struct file_header *header, int file, int directory)
{
    *stream = (struct stream){
        .swapped = header->swapped, .file = file, .directory = directory, .part_file = -1};
    find_records(stream, header);
    stream->at = stream->first.offset;
    stream->end = stream->at + stream->first.size;
    window_open(&stream->window, file, header->file_bytes);
}

static void close_part(struct stream *stream)
{
    unpacker_free(stream->unpacker);
    stream->unpacker = NULL;
    if (stream->part_file >= 0)
        close(stream->part_file);
    stream->part_file = -1;
}

void stream_close(struct stream *stream)
{
    if (stream->window.file_bytes) /* else never opened */
        close_part(stream);
    window_close(&stream->window);
}

int stream_rewind(struct stream *stream)
{
    struct stat status;
    close_part(stream);
    if (fstat(stream->file, &status) != 0)
        return -errno;
    window_reuse(&stream->window, stream->file, (uint64_t)status.st_size);
    stream->next_part = 0;
    stream->at = stream->first.offset;
    stream->end = stream->at + stream->first.size;
    return 0;
}

/* Goes on with the next data.N. 1, 0 when there is none, negative errno. */
static int open_part(struct stream *stream)
{
    char name[24];
    struct stat status;
    close_part(stream);
    if (stream->directory < 0)
        return 0;
    snprintf(name, sizeof(name), "data.%u", stream->next_part);
    int fd = foreign_file_open_at(stream->directory, name, &status);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    stream->part_file = fd;
    stream->next_part++;
    stream->at = 0;
    stream->end = (uint64_t)status.st_size;
    window_reuse(&stream->window, fd, stream->end);
    return 1;
}

/* False: the bytes are no header of a record. */
static bool read_header(const struct stream *stream, const uint8_t *bytes, struct record *record,
                        uint32_t *size)
{
    struct cursor c = cursor_of(bytes, RECORD_HEADER_BYTES);
    c.swapped = stream->swapped;
    record->type = cursor_u32(&c);
    record->misc = cursor_u16(&c);
    *size = cursor_u16(&c);
    /* Records of simpleperf have 32 bits of size; the upper half is in misc. */
    if (record->type >= RECORD_SIMPLEPERF_MIN) {
        *size |= (uint32_t)record->misc << 16;
        record->misc = 0;
    }
    return *size >= RECORD_HEADER_BYTES;
}

/* Not as a copy of a cursor: loads of two members, just stored one by one, wait for the stores. */
static void set_body(const struct stream *stream, struct record *record, const uint8_t *bytes,
                     size_t size)
{
    record->body.bytes = bytes;
    record->body.size = size;
    record->body.at = 0;
    record->body.failed = false;
    record->body.swapped = stream->swapped;
}

/* 0: an end by damage. */
static int end_at(struct stream *stream, const char *what)
{
    stream_stop(stream, what);
    return 0;
}

/* After a failed window_get(). 0 at damage, negative errno. */
static int cannot_get(struct stream *stream, int err)
{
    return err == -ENODATA ? end_at(stream, "the file was truncated during reading,") : err;
}

/* Locates the payload of an AUXTRACE or TRACING_DATA record; the body begins with the payload's
 * size. perf writes the payload after the record; simpleperf before 2018-03 writes tracing data
 * inside the record. */
static bool find_payload(struct stream *stream, struct record *record)
{
    bool is_tracing = record->type == RECORD_TRACING_DATA;
    struct cursor body = record->body;
    uint64_t bytes = is_tracing ? cursor_u32(&body) : cursor_u64(&body);
    if (is_tracing && bytes <= cursor_left(&body)) {
        record->payload = (struct section){record->body_offset + body.at, bytes};
        return !body.failed;
    }
    record->payload.size = is_tracing ? (bytes + 7) & ~UINT64_C(7) : bytes;
    if (body.failed || record->payload.size > stream->end - stream->at)
        return false;
    stream->at += record->payload.size;
    return true;
}

/* The record at stream->at, without decompression. 1, 0 at the end or at damage, negative errno. */
static int next_stored(struct stream *stream, struct record *record)
{
    enum { LARGE_BYTES = 1 << 10, HEAD_BYTES = 384 }; /* registers and the fields before them */
    const uint8_t *bytes;
    size_t there;
    uint32_t size;
    uint64_t left = stream->end - stream->at;
    stream->record_at = stream->at;
    if (left < RECORD_HEADER_BYTES)
        return left ? end_at(stream, "the file is cut off inside a record") : 0;
    int err = window_get(&stream->window, stream->at, RECORD_HEADER_BYTES, &bytes, &there);
    if (err)
        return cannot_get(stream, err);
    if (!read_header(stream, bytes, record, &size))
        return end_at(stream, "a record of impossible size");
    if (size > left)
        return end_at(stream, "the file is cut off inside a record");
    /* Skipped without reading: records of simpleperf may have megabytes. */
    bool is_wanted = record->type < RECORD_SIMPLEPERF_MIN;
    if (is_wanted && size > there)
        err = window_get(&stream->window, stream->at, size, &bytes, &there);
    if (err)
        return cannot_get(stream, err);
    set_body(stream, record, is_wanted ? bytes + RECORD_HEADER_BYTES : NULL,
             is_wanted ? size - (size_t)RECORD_HEADER_BYTES : 0);
    record->block = is_wanted ? stream->window.at_hand : NULL;
    /* Read by the helper thread, the next record is in another processor's cache. Small records are
     * left to the hardware prefetcher. */
    if (is_wanted && size >= LARGE_BYTES)
        prefetch_bytes(bytes + size, HEAD_BYTES);
    record->body_offset = stream->at + RECORD_HEADER_BYTES;
    stream->at += size;
    record->payload = (struct section){.offset = stream->at};
    bool has_payload = record->type == RECORD_TRACING_DATA || record->type == RECORD_AUXTRACE;
    return !has_payload || find_payload(stream, record) ? 1 : end_at(stream, "a truncated trace");
}

/* 1, 0 when nothing whole was fed, or at damage. */
static int next_unpacked(struct stream *stream, struct record *record)
{
    const uint8_t *bytes;
    uint32_t size = 0;
    int found = unpacker_peek(stream->unpacker, RECORD_HEADER_BYTES, &bytes);
    if (found == 1) {
        if (read_header(stream, bytes, record, &size) && size <= UINT16_MAX)
            found = unpacker_peek(stream->unpacker, size, &bytes);
        else
            found = -EBADMSG;
    }
    if (found == -EFBIG)
        stream_stop(stream, "compressed records beyond the limit (raise with --memory-limit),");
    else if (found < 0)
        stream_stop(stream, "malformed compressed records");
    if (found <= 0)
        return 0;
    unpacker_take(stream->unpacker, size);
    set_body(stream, record, bytes + RECORD_HEADER_BYTES, size - (size_t)RECORD_HEADER_BYTES);
    record->block = NULL;
    record->payload = (struct section){0};
    return 1;
}

/* COMPRESSED2 is padded; a field has the size without padding. */
static int unpack(struct stream *stream, struct record *record)
{
    uint64_t size = record->body.size;
    if (record->type == RECORD_COMPRESSED2)
        size = cursor_u64(&record->body);
    const uint8_t *bytes = cursor_bytes(&record->body, size);
    if (!bytes)
        return end_at(stream, "a malformed record");
    if (!unpacker_is_there())
        return end_at(stream,
                      "compressed records (libzstd is missing, or rec was built without zstd),");
    if (!stream->unpacker)
        stream->unpacker = unpacker_new();
    if (!stream->unpacker)
        return -ENOMEM;
    unpacker_feed(stream->unpacker, bytes, (size_t)size);
    return 0;
}

/* The next record of the part at hand. */
static int next_of_part(struct stream *stream, struct record *record)
{
    for (;;) {
        if (stream->unpacker && next_unpacked(stream, record))
            return 1;
        int found = next_stored(stream, record);
        bool is_compressed =
            record->type == RECORD_COMPRESSED || record->type == RECORD_COMPRESSED2;
        if (found <= 0 || stream->keeps_compressed || !is_compressed)
            return found;
        /* Feeds the unpacker: the content comes out in the next iterations. */
        int err = unpack(stream, record);
        if (err)
            return err;
    }
}

int stream_next(struct stream *stream, struct record *record)
{
    int found;
    while ((found = next_of_part(stream, record)) == 0) {
        if (unpacker_has_rest(stream->unpacker))
            stream_note_damage(stream, "the compressed records end inside a record");
        found = open_part(stream);
        if (found <= 0)
            break;
    }
    return found;
}
