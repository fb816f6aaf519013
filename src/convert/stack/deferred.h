/* SPDX-License-Identifier: MIT */
/*
 * Samples that wait for the user part of their stack. Newer kernels take it once, when the thread
 * returns from the kernel, for all samples since it entered; until then a sample has the kernel part
 * and a number that the record of the user part will bear.
 */
#pragma once

#include "convert/stack/callchain.h"

struct deferred_sample {
    struct profile_sample sample;
    uint32_t next;  /* that waits for the same; PROFILE_NONE */
    uint32_t start; /* of its addresses */
    uint32_t count;
};

struct deferred {
    struct intern *keys; /* tid, cookie */
    uint32_t *latest;    /* by key: the last that came; PROFILE_NONE: none waits */
    size_t key_count, key_capacity;
    struct deferred_sample *samples;
    size_t sample_count, sample_capacity;
    uint32_t *addresses; /* of all samples, one after the other */
    size_t address_count, address_capacity;
    int (*handle)(void *context, const struct profile_sample *sample); /* whose stack is known */
    void *context;
};

int deferred_init(struct deferred *deferred);
void deferred_free(struct deferred *deferred);

/* Keeps a sample whose chain is_deferred. 0 or -ENOMEM. */
int deferred_add(struct deferred *deferred, const struct callchain *callchain, uint32_t tid,
                 const struct profile_sample *sample);

/* A DEFERRED record: hands out who waited for it. 0, what handle() returned, or -ENOMEM. */
int deferred_resume(struct deferred *deferred, struct callchain *callchain,
                    const struct perfdata_event *event, const struct address_map *map);

/* Hands out those whose record never came, marked as truncated. Returns as above. */
int deferred_finish(struct deferred *deferred, struct callchain *callchain);
