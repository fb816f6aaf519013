/* SPDX-License-Identifier: MIT */
#include "convert/load/ordered_events.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 18, /* many records; one record may take more */
    SOON = 8,              /* while so many are handled, memory answers */
};

struct event_block {
    struct event_block *next_spare;
    size_t used, capacity;
    size_t events; /* that lie here and were not handed out, and one while it is filled */
    _Alignas(16) uint8_t bytes[];
};

/* Memory that is given back and asked for again comes page by page from the system, which takes longer than
 * reading what it is for. */
static void block_release(struct ordered_events *events, struct event_block *block)
{
    if (!block || --block->events != 0)
        return;
    if (block->capacity != BLOCK_BYTES) {
        free(block);
        return;
    }
    block->next_spare = events->spare;
    events->spare = block;
}

static void release(struct ordered_events *events, const struct ordered_entry *entry)
{
    perfdata_release(entry->event);
    block_release(events, entry->block);
}

static struct event_block *new_block(struct ordered_events *events, size_t capacity)
{
    struct event_block *block = capacity == BLOCK_BYTES ? events->spare : NULL;
    if (block)
        events->spare = block->next_spare;
    return block ? block : malloc(sizeof(*block) + capacity);
}

static struct event_block *block_with_room(struct ordered_events *events, size_t size)
{
    struct event_block *block = events->filling;
    if (block && size <= block->capacity - block->used)
        return block;
    size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct event_block *next = new_block(events, capacity);
    if (!next)
        return NULL;
    *next = (struct event_block){.capacity = capacity, .events = 1};
    block_release(events, block);
    events->filling = next;
    return next;
}

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static const void *keep(struct event_block *block, const void *bytes, size_t size)
{
    if (size == 0)
        return NULL;
    void *kept = memcpy(block->bytes + block->used, bytes, size);
    block->used += aligned(size);
    return kept;
}

/* How many bytes of each kind the event points to. */
struct extent {
    size_t path, name, counts, chain, raw, branches, namespaces, registers, stack;
};

static struct extent extent_of(const struct perfdata_event *event)
{
    return (struct extent){
        .path = event->path ? strlen(event->path) + 1 : 0,
        .name = event->name ? strlen(event->name) + 1 : 0,
        .counts = event->count_count * sizeof(*event->counts),
        .chain = event->block ? 0 : event->callchain_count * sizeof(*event->callchain),
        .raw = event->raw_bytes,
        .branches = event->branch_count * sizeof(*event->branches),
        .namespaces = event->namespace_count * sizeof(*event->namespaces),
        .registers = (size_t)__builtin_popcountll(event->user_registers_mask) *
                     sizeof(*event->user_registers),
        .stack = event->block ? 0 : event->user_stack_bytes,
    };
}

static size_t extent_bytes(const struct extent *extent)
{
    return aligned(extent->path) + aligned(extent->name) + aligned(extent->counts) +
           aligned(extent->chain) + aligned(extent->raw) + aligned(extent->branches) +
           aligned(extent->namespaces) + aligned(extent->registers) + aligned(extent->stack);
}

static struct perfdata_event *put_event(struct event_block *block,
                                        const struct perfdata_event *event, size_t bytes)
{
    struct perfdata_event *copy = (void *)(block->bytes + block->used);
    block->used += aligned(bytes);
    block->events++;
    return memcpy(copy, event, bytes);
}

/* A copy of the event and of what it points to; NULL: out of memory. */
static const struct perfdata_event *copy_event(struct ordered_events *events,
                                               const struct perfdata_event *event)
{
    struct extent extent = extent_of(event);
    struct event_block *block =
        block_with_room(events, aligned(sizeof(*event)) + extent_bytes(&extent));
    if (!block)
        return NULL;
    struct perfdata_event *copy = put_event(block, event, sizeof(*event));
    copy->path = keep(block, event->path, extent.path);
    copy->name = keep(block, event->name, extent.name);
    copy->counts = keep(block, event->counts, extent.counts);
    copy->raw = keep(block, event->raw, extent.raw);
    copy->branches = keep(block, event->branches, extent.branches);
    copy->namespaces = keep(block, event->namespaces, extent.namespaces);
    copy->user_registers = keep(block, event->user_registers, extent.registers);
    if (perfdata_hold(event))
        return copy;
    copy->callchain = keep(block, event->callchain, extent.chain);
    copy->user_stack = keep(block, event->user_stack, extent.stack);
    return copy;
}

/* The same for most events, in a quarter of the memory: else what waits is more than the processor's caches hold. */
static const struct perfdata_event *copy_plain(struct ordered_events *events,
                                               const struct perfdata_event *event)
{
    size_t chain_bytes = event->block ? 0 : event->callchain_count * sizeof(*event->callchain);
    struct event_block *block =
        block_with_room(events, aligned(PERFDATA_PLAIN_BYTES) + aligned(chain_bytes));
    if (!block)
        return NULL;
    struct perfdata_event *copy = put_event(block, event, PERFDATA_PLAIN_BYTES);
    if (!perfdata_hold(event))
        copy->callchain = keep(block, event->callchain, chain_bytes);
    return copy;
}

int ordered_events_add(struct ordered_events *events, const struct perfdata_event *event)
{
    if (array_reserve((void **)&events->entries, &events->capacity, events->count + 1,
                      sizeof(*events->entries)) != 0)
        return -ENOMEM;
    const struct perfdata_event *copy =
        event->is_plain ? copy_plain(events, event) : copy_event(events, event);
    if (!copy)
        return -ENOMEM;
    events->entries[events->count++] =
        (struct ordered_entry){event->time_ns, events->sequence++, copy, events->filling};
    if (event->time_ns > events->youngest_ns)
        events->youngest_ns = event->time_ns;
    else if (event->time_ns < events->youngest_ns)
        events->is_disordered = true;
    return 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct ordered_entry *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Most files of one writer are in order already. */
static void sort(struct ordered_events *events)
{
    if (events->is_disordered)
        qsort(events->entries, events->count, sizeof(*events->entries), compare_entries);
    events->is_disordered = false;
}

static int hand_out_one(struct ordered_events *events, const struct ordered_entry *entry)
{
    const struct perfdata_event *event = entry->event;
    if (event->is_plain)
        event = memcpy(&events->plain, event, PERFDATA_PLAIN_BYTES);
    int err = events->handle(events->context, event);
    release(events, entry);
    return err;
}

static int hand_out(struct ordered_events *events, uint64_t until_ns)
{
    if (events->count == 0)
        return 0;
    sort(events);
    size_t done = 0;
    int err = 0;
    while (err == 0 && done < events->count && events->entries[done].time_ns <= until_ns) {
        if (events->prefetch && done + SOON < events->count)
            events->prefetch(events->context, events->entries[done + SOON].event);
        err = hand_out_one(events, &events->entries[done++]);
    }
    events->count -= done;
    memmove(events->entries, events->entries + done, events->count * sizeof(*events->entries));
    return err;
}

int ordered_events_flush(struct ordered_events *events)
{
    int err = hand_out(events, events->before_ns);
    events->before_ns = events->youngest_ns;
    return err;
}

int ordered_events_finish(struct ordered_events *events)
{
    return hand_out(events, UINT64_MAX);
}

void ordered_events_free(struct ordered_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        release(events, &events->entries[i]);
    block_release(events, events->filling);
    events->filling = NULL;
    for (struct event_block *next; events->spare; events->spare = next) {
        next = events->spare->next_spare;
        free(events->spare);
    }
    free(events->entries);
    events->entries = NULL;
    events->count = events->capacity = 0;
}
