/* SPDX-License-Identifier: MIT */
/*
 * A record in a chunk, with all its parts behind it:
 *
 *     │ bytes │ ring_record │ kernel frames │ user frames │ registers │ stack │ text │ padding │
 *                     └ pointers ─┴───────────────┴─────────────┴─────────┴───────┘
 *
 * Parts of whole words come first, so only the last ones may end between words; the next record is
 * aligned again.
 */
#include "record/perf_ring/rings/ring_backlog.h"

#include "record/perf_ring/tid_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this amount the walks cannot follow for good: the rest stays in the rings, and is lost
 * there. */
#define BACKLOG_BYTES_MAX (UINT64_C(256) << 20)
/* Four records of the largest size. */
#define CHUNK_BYTES (UINT32_C(256) << 10)
/* The kernel clears new memory, 0.2 ms a MiB: a burst finds chunks of the last one. */
enum { SPARE_CHUNKS = 64 };

struct backlog_chunk {
    struct backlog_chunk *next;
    size_t used;
    uint64_t data[CHUNK_BYTES / 8];
};

/* Followed by the targets of the record's pointers. */
struct stored_record {
    size_t bytes;
    struct ring_record record;
};

int ring_backlog_open(struct ring_backlog *backlog, size_t ring_count)
{
    *backlog = (struct ring_backlog){.queue_count = ring_count};
    backlog->queues = calloc(ring_count, sizeof(*backlog->queues));
    backlog->starts = calloc(TIDS_END, 1);
    return backlog->queues && backlog->starts ? 0 : -ENOMEM;
}

static void free_chunks(struct backlog_chunk *chunk)
{
    while (chunk) {
        struct backlog_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void ring_backlog_free(struct ring_backlog *backlog)
{
    for (size_t i = 0; backlog->queues && i < backlog->queue_count; i++)
        free_chunks(backlog->queues[i].first);
    free_chunks(backlog->spare);
    free(backlog->queues);
    free(backlog->starts);
    *backlog = (struct ring_backlog){.count = 0};
}

static struct backlog_chunk *take_chunk(struct ring_backlog *backlog)
{
    struct backlog_chunk *chunk = backlog->spare;
    if (!chunk)
        chunk = malloc(sizeof(*chunk));
    else {
        backlog->spare = chunk->next;
        backlog->spare_count--;
    }
    if (chunk) {
        chunk->next = NULL;
        chunk->used = 0;
    }
    return chunk;
}

static void give_chunk(struct ring_backlog *backlog, struct backlog_chunk *chunk)
{
    if (backlog->spare_count == SPARE_CHUNKS) {
        free(chunk);
        return;
    }
    chunk->next = backlog->spare;
    backlog->spare = chunk;
    backlog->spare_count++;
}

/* Room behind the newest record of the queue; NULL: out of memory. */
static uint8_t *reserve(struct ring_backlog *backlog, struct backlog_queue *queue, size_t bytes)
{
    struct backlog_chunk *last = queue->last;
    if (!last || CHUNK_BYTES - last->used < bytes) {
        struct backlog_chunk *added = bytes > CHUNK_BYTES ? NULL : take_chunk(backlog);
        if (!added)
            return NULL;
        *(last ? &last->next : &queue->first) = added;
        queue->last = last = added;
    }
    uint8_t *place = (uint8_t *)last->data + last->used;
    last->used += bytes;
    return place;
}

static size_t registers_bytes(const struct ring_record *record)
{
    return record->registers ? 8 * (size_t)__builtin_popcountll(RING_REGISTERS) : 0;
}

static size_t text_bytes(const struct ring_record *record)
{
    return record->text ? strlen(record->text) + 1 : 0;
}

/* The copy of a part, at *next; NULL: the record lacks the part. */
static const void *put(uint8_t **next, const void *part, size_t bytes)
{
    uint8_t *start = *next;
    if (bytes > 0)
        memcpy(start, part, bytes);
    *next += bytes;
    return bytes > 0 ? start : NULL;
}

/* The pointers of the record lead into the ring; those of the copy lead behind the copy. */
static void store(struct stored_record *stored, const struct ring_record *record)
{
    struct ring_record *copy = &stored->record;
    uint8_t *next = (uint8_t *)(stored + 1);
    *copy = *record;
    copy->kernel_frames = put(&next, record->kernel_frames, 8 * record->kernel_count);
    copy->user_frames = put(&next, record->user_frames, 8 * record->user_count);
    copy->registers = put(&next, record->registers, registers_bytes(record));
    copy->stack = put(&next, record->stack, record->stack_bytes);
    copy->text = put(&next, record->text, text_bytes(record));
}

/* The number of FORK records of the process; NULL: the record is none of a process. */
static uint8_t *starts_of(const struct ring_backlog *backlog, const struct ring_record *record)
{
    bool is_start = record->type == PERF_RECORD_FORK && record->parent_pid != record->pid;
    return is_start && record->pid < TIDS_END ? &backlog->starts[record->pid] : NULL;
}

/* A process id that was used STARTS_MANY times stays counted. */
static void count_start(const struct ring_backlog *backlog, const struct ring_record *record,
                        bool is_added)
{
    enum { STARTS_MANY = UINT8_MAX };
    uint8_t *starts = starts_of(backlog, record);
    if (starts && *starts < STARTS_MANY)
        *starts = (uint8_t)(is_added ? *starts + 1 : *starts - 1);
}

bool ring_backlog_add(struct ring_backlog *backlog, size_t ring, const struct ring_record *record)
{
    size_t bytes = sizeof(struct stored_record) + 8 * (record->kernel_count + record->user_count) +
                   registers_bytes(record) + record->stack_bytes + text_bytes(record);
    bytes = (bytes + 7) & ~(size_t)7;
    if (backlog->bytes + bytes > BACKLOG_BYTES_MAX)
        return false;
    struct stored_record *stored = (void *)reserve(backlog, &backlog->queues[ring], bytes);
    if (!stored)
        return false;
    stored->bytes = bytes;
    store(stored, record);
    count_start(backlog, record, true);
    backlog->bytes += bytes;
    backlog->count++;
    return true;
}

static const struct stored_record *stored_at(const struct backlog_chunk *chunk, size_t at)
{
    return (const void *)((const uint8_t *)chunk->data + at);
}

/* NULL: the queue is empty. */
static const struct stored_record *oldest_of(const struct backlog_queue *queue)
{
    bool is_empty = !queue->first || queue->at == queue->first->used;
    return is_empty ? NULL : stored_at(queue->first, queue->at);
}

/* An empty queue keeps its chunk. */
static void drop_oldest(struct ring_backlog *backlog, struct backlog_queue *queue)
{
    size_t bytes = stored_at(queue->first, queue->at)->bytes;
    backlog->bytes -= bytes;
    queue->at += bytes;
    if (queue->at < queue->first->used)
        return;
    struct backlog_chunk *read = queue->first;
    queue->at = 0;
    if (read == queue->last) {
        read->used = 0;
    } else {
        queue->first = read->next;
        give_chunk(backlog, read);
    }
}

/* The record of the call before stays in place until here: its user reads the chunk. Queues are
 * few, one for each event and processor, so all of them are looked at. */
const struct ring_record *ring_backlog_next(struct ring_backlog *backlog, uint64_t until_ns)
{
    const struct stored_record *found = NULL;
    if (backlog->taken)
        drop_oldest(backlog, backlog->taken);
    backlog->taken = NULL;
    for (size_t i = 0; i < backlog->queue_count; i++) {
        const struct stored_record *oldest = oldest_of(&backlog->queues[i]);
        if (!oldest || oldest->record.time_ns > until_ns ||
            (found && oldest->record.time_ns >= found->record.time_ns))
            continue;
        found = oldest;
        backlog->taken = &backlog->queues[i];
    }
    if (!found)
        return NULL;
    backlog->count--;
    count_start(backlog, &found->record, false);
    return &found->record;
}

bool ring_backlog_has_start(const struct ring_backlog *backlog, pid_t pid)
{
    return (uint32_t)pid < TIDS_END && backlog->starts[pid] > 0;
}
