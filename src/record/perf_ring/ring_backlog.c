/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_backlog.h"

#include <string.h>

#define BACKLOG_BYTES_MAX (UINT64_C(256) << 20)
/* An empty backlog keeps this much memory. */
#define BACKLOG_BYTES_KEPT (UINT64_C(4) << 20)

static size_t registers_bytes(const struct ring_record *record)
{
    return record->registers ? 8 * (size_t)__builtin_popcountll(RING_REGISTERS) : 0;
}

static size_t text_bytes(const struct ring_record *record)
{
    return record->text ? strlen(record->text) + 1 : 0;
}

/* Removes taken records, once they are the larger part. */
static void tidy(struct ring_backlog *backlog)
{
    struct buffer *bytes = &backlog->bytes;
    if (backlog->at < bytes->size / 2 || backlog->at == 0)
        return;
    memmove(bytes->bytes, bytes->bytes + backlog->at, bytes->size - backlog->at);
    bytes->size -= backlog->at;
    backlog->at = 0;
    if (bytes->size == 0 && bytes->capacity > BACKLOG_BYTES_KEPT)
        buffer_free(bytes);
}

/* struct ring_record, then the targets of its pointers; a multiple of 8 bytes. */
bool ring_backlog_add(struct ring_backlog *backlog, const struct ring_record *record)
{
    struct buffer *bytes = &backlog->bytes;
    tidy(backlog);
    const size_t before = bytes->size;
    if (before > BACKLOG_BYTES_MAX)
        return false;
    buffer_append(bytes, record, sizeof(*record));
    buffer_append(bytes, record->kernel_frames, 8 * record->kernel_count);
    buffer_append(bytes, record->user_frames, 8 * record->user_count);
    buffer_append(bytes, record->registers, registers_bytes(record));
    buffer_append(bytes, record->stack, record->stack_bytes);
    buffer_append(bytes, record->text, text_bytes(record));
    buffer_zeros(bytes, -bytes->size & 7u);
    if (bytes->failed) {
        bytes->size = before;
        bytes->failed = false;
        return false;
    }
    backlog->count++;
    return true;
}

/* The next `size` bytes; NULL: none. */
static const void *part(const uint8_t **next, size_t size)
{
    const uint8_t *start = *next;
    *next += size;
    return size ? start : NULL;
}

/* Returns the place of the record after this one. */
static size_t read_at(const struct ring_backlog *backlog, size_t at, struct ring_record *record)
{
    const uint8_t *next = backlog->bytes.bytes + at;
    memcpy(record, next, sizeof(*record));
    next += sizeof(*record);
    record->kernel_frames = part(&next, 8 * record->kernel_count);
    record->user_frames = part(&next, 8 * record->user_count);
    record->registers = part(&next, registers_bytes(record));
    record->stack = part(&next, record->stack_bytes);
    if (record->text)
        record->text = (const char *)next;
    next += text_bytes(record);
    return ((size_t)(next - backlog->bytes.bytes) + 7) & ~(size_t)7;
}

bool ring_backlog_next(struct ring_backlog *backlog, struct ring_record *record)
{
    if (backlog->count == 0)
        return false;
    backlog->at = read_at(backlog, backlog->at, record);
    backlog->count--;
    return true;
}

bool ring_backlog_has_start(const struct ring_backlog *backlog, pid_t pid)
{
    struct ring_record record;
    size_t at = backlog->at;
    for (size_t i = 0; i < backlog->count; i++) {
        at = read_at(backlog, at, &record);
        if (record.type == PERF_RECORD_FORK && record.pid == (uint32_t)pid &&
            record.parent_pid != record.pid)
            return true;
    }
    return false;
}

void ring_backlog_free(struct ring_backlog *backlog)
{
    buffer_free(&backlog->bytes);
    *backlog = (struct ring_backlog){.count = 0};
}
