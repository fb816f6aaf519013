/* SPDX-License-Identifier: MIT */
#include "convert/order.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 18, /* many records; one record may take more */
    SOON = 8,              /* while so many are handled, memory answers */
};

struct order_block {
    struct order_block *next_spare;
    size_t used, capacity;
    size_t events; /* that lie here and were not handed out, and one while it is filled */
    _Alignas(16) uint8_t bytes[];
};

/* Memory that is given back and asked for again comes page by page from the system, which takes longer than
 * reading what it is for. */
static void block_release(struct order *order, struct order_block *block)
{
    if (!block || --block->events != 0)
        return;
    if (block->capacity != BLOCK_BYTES) {
        free(block);
        return;
    }
    block->next_spare = order->spare;
    order->spare = block;
}

static void release(struct order *order, const struct order_entry *entry)
{
    perfdata_release(entry->event);
    block_release(order, entry->block);
}

static struct order_block *new_block(struct order *order, size_t capacity)
{
    struct order_block *block = capacity == BLOCK_BYTES ? order->spare : NULL;
    if (block)
        order->spare = block->next_spare;
    return block ? block : malloc(sizeof(*block) + capacity);
}

static struct order_block *block_with_room(struct order *order, size_t size)
{
    struct order_block *block = order->filling;
    if (block && size <= block->capacity - block->used)
        return block;
    size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct order_block *next = new_block(order, capacity);
    if (!next)
        return NULL;
    *next = (struct order_block){.capacity = capacity, .events = 1};
    block_release(order, block);
    order->filling = next;
    return next;
}

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static const void *keep(struct order_block *block, const void *bytes, size_t size)
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

static struct perfdata_event *put_event(struct order_block *block,
                                        const struct perfdata_event *event, size_t bytes)
{
    struct perfdata_event *copy = (void *)(block->bytes + block->used);
    block->used += aligned(bytes);
    block->events++;
    return memcpy(copy, event, bytes);
}

/* A copy of the event and of what it points to; NULL: out of memory. */
static const struct perfdata_event *copy_event(struct order *order,
                                               const struct perfdata_event *event)
{
    struct extent extent = extent_of(event);
    struct order_block *block =
        block_with_room(order, aligned(sizeof(*event)) + extent_bytes(&extent));
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
static const struct perfdata_event *copy_plain(struct order *order,
                                               const struct perfdata_event *event)
{
    size_t chain_bytes = event->block ? 0 : event->callchain_count * sizeof(*event->callchain);
    struct order_block *block =
        block_with_room(order, aligned(PERFDATA_PLAIN_BYTES) + aligned(chain_bytes));
    if (!block)
        return NULL;
    struct perfdata_event *copy = put_event(block, event, PERFDATA_PLAIN_BYTES);
    if (!perfdata_hold(event))
        copy->callchain = keep(block, event->callchain, chain_bytes);
    return copy;
}

int order_add(struct order *order, const struct perfdata_event *event)
{
    if (array_reserve((void **)&order->entries, &order->capacity, order->count + 1,
                      sizeof(*order->entries)) != 0)
        return -ENOMEM;
    const struct perfdata_event *copy =
        event->is_plain ? copy_plain(order, event) : copy_event(order, event);
    if (!copy)
        return -ENOMEM;
    order->entries[order->count++] =
        (struct order_entry){event->time_ns, order->sequence++, copy, order->filling};
    if (event->time_ns > order->youngest_ns)
        order->youngest_ns = event->time_ns;
    else if (event->time_ns < order->youngest_ns)
        order->is_disordered = true;
    return 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct order_entry *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Most files of one writer are in order already. */
static void sort(struct order *order)
{
    if (order->is_disordered)
        qsort(order->entries, order->count, sizeof(*order->entries), compare_entries);
    order->is_disordered = false;
}

static int hand_out_one(struct order *order, const struct order_entry *entry)
{
    const struct perfdata_event *event = entry->event;
    if (event->is_plain)
        event = memcpy(&order->plain, event, PERFDATA_PLAIN_BYTES);
    int err = order->handle(order->context, event);
    release(order, entry);
    return err;
}

static int hand_out(struct order *order, uint64_t until_ns)
{
    if (order->count == 0)
        return 0;
    sort(order);
    size_t done = 0;
    int err = 0;
    while (err == 0 && done < order->count && order->entries[done].time_ns <= until_ns) {
        if (order->expect && done + SOON < order->count)
            order->expect(order->context, order->entries[done + SOON].event);
        err = hand_out_one(order, &order->entries[done++]);
    }
    order->count -= done;
    memmove(order->entries, order->entries + done, order->count * sizeof(*order->entries));
    return err;
}

int order_round(struct order *order)
{
    int err = hand_out(order, order->before_ns);
    order->before_ns = order->youngest_ns;
    return err;
}

int order_finish(struct order *order)
{
    return hand_out(order, UINT64_MAX);
}

void order_free(struct order *order)
{
    for (size_t i = 0; i < order->count; i++)
        release(order, &order->entries[i]);
    block_release(order, order->filling);
    order->filling = NULL;
    for (struct order_block *next; order->spare; order->spare = next) {
        next = order->spare->next_spare;
        free(order->spare);
    }
    free(order->entries);
    order->entries = NULL;
    order->count = order->capacity = 0;
}
