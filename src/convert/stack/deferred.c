/* SPDX-License-Identifier: MIT */
/*
 * Lists in an array, by key:
 *
 *     latest[thread, cookie] ─▶ sample ─ next ─▶ sample ─ next ─▶ PROFILE_NONE
 *     sample: addresses[start .. start + count), the kernel part
 *
 * Samples and addresses stay when handed out, so indices stay valid.
 */
#include "convert/stack/deferred.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int deferred_init(struct deferred *deferred)
{
    deferred->keys = intern_new();
    return deferred->keys ? 0 : -ENOMEM;
}

void deferred_free(struct deferred *deferred)
{
    intern_free(deferred->keys);
    free(deferred->latest);
    free(deferred->samples);
    free(deferred->addresses);
    *deferred = (struct deferred){0};
}

/* The kernel part of the callchain; the array has all pending samples' addresses. */
static int keep_addresses(struct deferred *deferred, const struct callchain *callchain)
{
    size_t need = deferred->address_count + callchain->count;
    if (need > UINT32_MAX ||
        array_reserve((void **)&deferred->addresses, &deferred->address_capacity, need,
                      sizeof(*deferred->addresses)) != 0)
        return -ENOMEM;
    if (callchain->count)
        memcpy(deferred->addresses + deferred->address_count, callchain->addresses,
               callchain->count * sizeof(*callchain->addresses));
    deferred->address_count = need;
    return 0;
}

/* The key is thread and cookie: cookies of different CPUs may be equal. */
int deferred_add(struct deferred *deferred, const struct callchain *callchain, uint32_t tid,
                 const struct profile_sample *sample)
{
    const uint64_t key[] = {tid, callchain->cookie};
    uint32_t id = intern_add(deferred->keys, key, sizeof(key));
    if (id == deferred->key_count) {
        uint32_t *latest =
            ARRAY_PUSH(deferred->latest, deferred->key_count, deferred->key_capacity);
        if (latest)
            *latest = PROFILE_NONE;
    }
    struct deferred_sample *added =
        id < deferred->key_count
            ? ARRAY_PUSH(deferred->samples, deferred->sample_count, deferred->sample_capacity)
            : NULL;
    if (!added)
        return -ENOMEM;
    *added = (struct deferred_sample){.sample = *sample,
                                      .next = deferred->latest[id],
                                      .start = (uint32_t)deferred->address_count,
                                      .count = (uint32_t)callchain->count};
    deferred->latest[id] = (uint32_t)deferred->sample_count - 1;
    return keep_addresses(deferred, callchain);
}

static int hand_out(struct deferred *deferred, struct callchain *callchain,
                    struct deferred_sample *waiting)
{
    waiting->sample.call = callchain_call(callchain);
    return callchain->modules->profile->failed
               ? -ENOMEM
               : deferred->handle(deferred->context, &waiting->sample);
}

/* All samples between two returns to user mode have the same user part: the latest leads to the
 * others. */
int deferred_resume(struct deferred *deferred, struct callchain *callchain,
                    const struct perfdata_event *event, const struct address_map *map)
{
    const uint64_t key[] = {event->tid, event->deferred_cookie};
    uint32_t id = intern_find(deferred->keys, key, sizeof(key));
    if (id == INTERN_NONE || id >= deferred->key_count)
        return 0;
    uint32_t at = deferred->latest[id];
    deferred->latest[id] = PROFILE_NONE;
    int err = 0;
    while (at != PROFILE_NONE && err == 0) {
        struct deferred_sample *waiting = &deferred->samples[at];
        err = callchain_resume(callchain, deferred->addresses + waiting->start, waiting->count,
                               event, map);
        if (err == 0)
            err = hand_out(deferred, callchain, waiting);
        at = waiting->next;
    }
    return err;
}

/* Without the record, the kernel part is kept, with the mark [truncated]. */
int deferred_finish(struct deferred *deferred, struct callchain *callchain)
{
    int err = 0;
    for (size_t id = 0; id < deferred->key_count; id++) {
        for (uint32_t at = deferred->latest[id]; at != PROFILE_NONE && err == 0;
             at = deferred->samples[at].next) {
            struct deferred_sample *waiting = &deferred->samples[at];
            const struct perfdata_event none = {.callchain_count = 0};
            err = callchain_resume(callchain, deferred->addresses + waiting->start, waiting->count,
                                   &none, NULL);
            if (err == 0)
                err = callchain_mark_truncated(callchain);
            if (err == 0)
                err = hand_out(deferred, callchain, waiting);
        }
    }
    return err;
}
