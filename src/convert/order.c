/* SPDX-License-Identifier: MIT */
#include "convert/order.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Moves what the event points to into one block of its own. */
static int own(struct order_entry *entry)
{
    struct perfdata_event *event = &entry->event;
    size_t chain_bytes = event->callchain_count * sizeof(*event->callchain);
    size_t path_bytes = event->path ? strlen(event->path) + 1 : 0;
    size_t name_bytes = event->name ? strlen(event->name) + 1 : 0;
    char *block = malloc(chain_bytes + path_bytes + name_bytes + 1);
    if (!block)
        return -ENOMEM;
    entry->owned = block;
    if (chain_bytes)
        event->callchain = memcpy(block, event->callchain, chain_bytes);
    if (path_bytes)
        event->path = memcpy(block + chain_bytes, event->path, path_bytes);
    if (name_bytes)
        event->name = memcpy(block + chain_bytes + path_bytes, event->name, name_bytes);
    event->user_registers = NULL;
    event->user_stack = NULL;
    return 0;
}

int order_add(struct order *order, const struct perfdata_event *event)
{
    struct order_entry *entry = ARRAY_PUSH(order->entries, order->count, order->capacity);
    if (!entry)
        return -ENOMEM;
    *entry = (struct order_entry){.event = *event, .sequence = order->sequence++};
    if (own(entry) != 0) {
        order->count--;
        return -ENOMEM;
    }
    if (event->time_ns > order->youngest_ns)
        order->youngest_ns = event->time_ns;
    return 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct order_entry *a = left, *b = right;
    if (a->event.time_ns != b->event.time_ns)
        return a->event.time_ns < b->event.time_ns ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int hand_out(struct order *order, uint64_t until_ns)
{
    if (order->count == 0)
        return 0;
    qsort(order->entries, order->count, sizeof(*order->entries), compare_entries);
    size_t done = 0;
    int err = 0;
    while (err == 0 && done < order->count && order->entries[done].event.time_ns <= until_ns) {
        err = order->handle(order->context, &order->entries[done].event);
        free(order->entries[done++].owned);
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
        free(order->entries[i].owned);
    free(order->entries);
    order->entries = NULL;
    order->count = order->capacity = 0;
}
