/* SPDX-License-Identifier: MIT */
/*
 * Samples pending for the user part of their stack. Newer kernels record the user part once, at the
 * thread's return from the kernel, for all samples since its entry; each sample has the kernel part
 * and a cookie, repeated in the record of the user part.
 */
#pragma once

#include "convert/stack/callchain.h"

struct deferred_sample {
    struct profile_sample sample;
    uint32_t next;  /* pending for the same record; PROFILE_NONE */
    uint32_t start; /* start of the addresses */
    uint32_t count;
};

struct deferred {
    struct intern *keys; /* tid, cookie */
    uint32_t *latest;    /* by key: the last sample; PROFILE_NONE: none pending */
    size_t key_count, key_capacity;
    struct deferred_sample *samples;
    size_t sample_count, sample_capacity;
    uint32_t *addresses; /* of all samples, consecutively */
    size_t address_count, address_capacity;
    int (*handle)(void *context, const struct profile_sample *sample); /* receives completed
                                                                        * samples */
    void *context;
};

int deferred_init(struct deferred *deferred);
void deferred_free(struct deferred *deferred);

/* Stores a sample with an is_deferred callchain. 0 or -ENOMEM. */
int deferred_add(struct deferred *deferred, const struct callchain *callchain, uint32_t tid,
                 const struct profile_sample *sample);

/* A DEFERRED record: hands out the pending samples of its cookie. 0, handle()'s error, or
 * -ENOMEM. */
int deferred_resume(struct deferred *deferred, struct callchain *callchain,
                    const struct perfdata_event *event, const struct address_map *map);

/* Hands out samples without a DEFERRED record, marked as truncated. Returns as above. */
int deferred_finish(struct deferred *deferred, struct callchain *callchain);
