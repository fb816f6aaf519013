/* SPDX-License-Identifier: MIT */
#include "convert/load/ordered_events.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 18, /* larger than any record: a record has at most 64 KiB */
    AHEAD = 8,             /* records between prefetch() and handle() */
};

struct record_block {
    struct record_block *next_spare;
    size_t used;
    size_t users; /* queued records of the block, and 1 while the block is filled */
    _Alignas(16) uint8_t bytes[BLOCK_BYTES];
};

/* Blocks are reused: fresh pages cost more than the copy itself. */
static void block_release(struct ordered_events *events, struct record_block *block)
{
    if (!block || --block->users != 0)
        return;
    block->next_spare = events->spare;
    events->spare = block;
}

static void release(struct ordered_events *events, const struct ordered_record *record)
{
    if (record->block)
        block_release(events, record->block);
    else
        perfdata_release(&record->record);
}

static struct record_block *block_with_room(struct ordered_events *events, size_t bytes)
{
    struct record_block *block = events->filling;
    if (block && bytes <= BLOCK_BYTES - block->used)
        return block;
    struct record_block *next = events->spare;
    if (next)
        events->spare = next->next_spare;
    else if (!(next = malloc(sizeof(*next))))
        return NULL;
    next->used = 0;
    next->users = 1;
    block_release(events, block);
    events->filling = next;
    return next;
}

/* Decompressed records cannot be held. */
static int copy_body(struct ordered_events *events, struct ordered_record *record)
{
    size_t bytes = (record->record.body_bytes + 15) & ~(size_t)15;
    struct record_block *block = block_with_room(events, bytes);
    if (!block)
        return -ENOMEM;
    if (record->record.body_bytes)
        memcpy(block->bytes + block->used, record->record.body, record->record.body_bytes);
    record->record.body = block->bytes + block->used;
    record->block = block;
    block->used += bytes;
    block->users++;
    return 0;
}

static int compare_records(const void *left, const void *right)
{
    const struct ordered_record *a = left, *b = right;
    if (a->record.time_ns != b->record.time_ns)
        return a->record.time_ns < b->record.time_ns ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Most files of a single writer are sorted already. */
static void sort(struct ordered_events *events)
{
    if (events->is_disordered)
        qsort(events->records, events->count, sizeof(*events->records), compare_records);
    events->is_disordered = false;
}

static int hand_out(struct ordered_events *events, uint64_t until_ns)
{
    if (events->count == 0)
        return 0;
    sort(events);
    size_t done = 0;
    int err = 0;
    while (err == 0 && done < events->count && events->records[done].record.time_ns <= until_ns) {
        if (events->prefetch && done + AHEAD < events->count)
            events->prefetch(events->context, &events->records[done + AHEAD]);
        err = events->handle(events->context, &events->records[done]);
        release(events, &events->records[done++]);
    }
    events->count -= done;
    memmove(events->records, events->records + done, events->count * sizeof(*events->records));
    return err;
}

/* No later record is older than before_ns, the youngest time at the mark before. */
static int end_round(struct ordered_events *events)
{
    int err = hand_out(events, events->before_ns);
    events->before_ns = events->youngest_ns;
    return err;
}

int ordered_events_add(struct ordered_events *events, const struct perfdata_record *added,
                       uint64_t callchain_hash)
{
    if (added->ends_round)
        return end_round(events);
    if (array_reserve((void **)&events->records, &events->capacity, events->count + 1,
                      sizeof(*events->records)) != 0)
        return -ENOMEM;
    struct ordered_record *record = &events->records[events->count];
    *record = (struct ordered_record){
        .sequence = events->sequence, .callchain_hash = callchain_hash, .record = *added};
    if (!perfdata_hold(added) && copy_body(events, record) != 0)
        return -ENOMEM;
    events->count++;
    events->sequence++;
    if (added->time_ns > events->youngest_ns)
        events->youngest_ns = added->time_ns;
    else if (added->time_ns < events->youngest_ns)
        events->is_disordered = true;
    return 0;
}

int ordered_events_finish(struct ordered_events *events)
{
    return hand_out(events, UINT64_MAX);
}

/* After an error records are still queued. */
void ordered_events_free(struct ordered_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        release(events, &events->records[i]);
    block_release(events, events->filling);
    events->filling = NULL;
    for (struct record_block *next; events->spare; events->spare = next) {
        next = events->spare->next_spare;
        free(events->spare);
    }
    free(events->records);
    events->records = NULL;
    events->count = events->capacity = 0;
}
