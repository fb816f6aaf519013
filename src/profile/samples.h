/* SPDX-License-Identifier: MIT */
/*
 * The samples of one event in one thread, read from the first to the last. Readers are copied to come back to a
 * place.
 *
 * A recording has millions. Where their times matter they are packed, since most of what one says is what the
 * one before said, too: eight to ten bytes are usual, in place of the 40 of a struct profile_sample.
 *
 *     flags │ time since the one before │ call │ weight, if another one │ CPU, if another one
 *
 * Where times do not matter, those of one call and CPU are added up into one without a time: what they take grows with
 * the places that the thread was in, not with how often it was seen there. Samples wait until there are many, whose
 * sums then stay in the processor's caches.
 */
#pragma once

#include "base/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NO_CPU UINT16_MAX

struct profile_sample {
    uint64_t time_ns;
    uint64_t weight; /* in the event's unit */
    uint32_t thread;
    uint32_t call;  /* PROFILE_NONE: no stack */
    uint32_t stack; /* after linking; told by the call */
    uint16_t event; /* index in events */
    uint16_t cpu;   /* PROFILE_NO_CPU: not recorded */
    uint64_t count; /* when read: how many it stands for, 1 unless they were added up */
};

struct sample_sum { /* the first two are its key */
    uint32_t call;
    uint32_t cpu;
    uint64_t weight, count;
};

struct sample_waiting { /* to be added to a sum */
    uint32_t call;
    uint32_t cpu;
    uint64_t weight;
};

struct sample_list {
    uint8_t *bytes; /* owned */
    size_t size, capacity;
    struct sample_sum *sums; /* owned */
    size_t sum_count, sum_capacity;
    struct sample_waiting *waiting; /* owned */
    size_t waiting_count, waiting_capacity;
    struct pairs sum_index;
    size_t count;    /* of samples, added up or not */
    uint64_t weight; /* of all */
    uint64_t least_weight, most_weight;
    struct profile_sample last; /* packed */
    uint64_t first_ns, last_ns; /* times of the first one and of the last */
    bool is_disordered;         /* some sample is older than the one before it */
};

void sample_list_free(struct sample_list *list);

/* One more. 0 or -ENOMEM. Its thread, event and stack are not kept. */
int sample_list_add(struct sample_list *list, const struct profile_sample *sample);

/* The same for a list of which nobody asks when: all of its samples are added so, or none. 0 or -ENOMEM. */
int sample_list_sum(struct sample_list *list, const struct profile_sample *sample);

/* After the last one. 0 or -ENOMEM. */
int sample_list_finish_sums(struct sample_list *list);

/* Into the order of time; equal times stay as they were added, and so do sums. 0 or -ENOMEM. */
int sample_list_sort(struct sample_list *list);

struct sample_reader {
    const uint8_t *at, *end;
    const struct sample_sum *sum, *sum_end;
    struct profile_sample sample; /* the one read last */
};

/* What the samples' thread and event are is said here. Borrows the list, which must not grow meanwhile. */
struct sample_reader sample_list_read(const struct sample_list *list, uint32_t thread,
                                      uint16_t event);

/* The next one into reader->sample; false at the end. Its stack is the caller's to fill in. */
bool sample_reader_next(struct sample_reader *reader);
