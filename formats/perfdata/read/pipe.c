/* SPDX-License-Identifier: MIT */
#include "perfdata/read/pipe.h"

#include "base/containers/buffer.h"

#include <errno.h>
#include <string.h>

enum {
    BUILD_IDS_BYTES_MAX = 64 << 20,
};

static int take_attr(struct event_table *events, struct cursor body, bool big_endian)
{
    struct cursor size = body;
    cursor_skip(&size, 4);
    uint32_t bytes = cursor_u32(&size);
    struct cursor attr = cursor_sub(&body, bytes < ATTR_BYTES_MIN ? ATTR_BYTES_MIN : bytes);
    struct cursor ids = cursor_sub(&body, cursor_left(&body) / 8 * 8);
    return attr.failed ? 0 : event_table_add(events, attr, ids, big_endian);
}

static void take_section(struct file_header *header, struct feature_set *features, uint64_t feature,
                         struct section section)
{
    if (feature >= HEADER_FEATURE_BITS)
        return;
    file_header_set(header, (unsigned)feature);
    features->sections[feature] = section;
}

static void take_feature(struct file_header *header, struct feature_set *features,
                         const struct record *record)
{
    struct cursor body = record->body;
    uint64_t feature = cursor_u64(&body);
    struct section section = {record->body_offset + body.at, cursor_left(&body)};
    if (!body.failed)
        take_section(header, features, feature, section);
}

/* Entries of the feature are records as well: only the first half of their headers is theirs. */
static void take_build_id(struct buffer *entries, const struct record *record)
{
    if (entries->size > BUILD_IDS_BYTES_MAX)
        return;
    uint16_t size = (uint16_t)(RECORD_HEADER_BYTES + record->body.size);
    uint16_t misc = record->misc;
    if (record->body.swapped) {
        size = __builtin_bswap16(size);
        misc = __builtin_bswap16(misc);
    }
    buffer_zeros(entries, 4);
    buffer_append(entries, &misc, sizeof(misc));
    buffer_append(entries, &size, sizeof(size));
    buffer_append(entries, record->body.bytes, record->body.size);
}

static int take(const struct record *record, struct file_header *header, struct event_table *events,
                struct feature_set *features, struct buffer *build_ids)
{
    switch (record->type) {
    case RECORD_HEADER_ATTR:
        return take_attr(events, record->body, header->big_endian);
    case RECORD_EVENT_UPDATE:
        return event_table_update(events, record->body);
    case RECORD_HEADER_FEATURE:
        take_feature(header, features, record);
        return 0;
    case RECORD_HEADER_BUILD_ID:
        take_build_id(build_ids, record);
        return 0;
    case RECORD_TRACING_DATA:
        take_section(header, features, FEATURE_TRACING_DATA, record->payload);
        return 0;
    default:
        return 0;
    }
}

int pipe_read(struct stream *stream, struct file_header *header, struct event_table *events,
              struct feature_set *features)
{
    struct buffer build_ids = {0};
    struct record record;
    int err = 0, more;
    stream->keeps_compressed = true;
    while (err == 0 && (more = stream_next(stream, &record)) > 0)
        err = take(&record, header, events, features, &build_ids);
    stream->keeps_compressed = false;
    if (err == 0 && more < 0)
        err = more;
    if (err == 0 && build_ids.failed)
        err = -ENOMEM;
    if (err == 0 && build_ids.size) {
        file_header_set(header, FEATURE_BUILD_ID);
        feature_set_give(features, FEATURE_BUILD_ID, &build_ids);
    }
    buffer_free(&build_ids);
    return err ? err : stream_rewind(stream);
}
