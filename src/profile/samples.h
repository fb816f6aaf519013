/* SPDX-License-Identifier: MIT */
/*
 * The samples of one event in one thread, read sequentially. Copy a reader to return to its
 * position later.
 *
 * Recordings have millions of samples. With times, samples are delta-coded, because consecutive
 * samples are similar: eight to ten bytes are usual instead of the 40 of struct profile_sample.
 *
 *     flags │ time since the sample before │ call │ weight, if changed │ CPU, if changed
 *
 * Without times, samples with equal call and CPU are added up, so memory grows with the number of
 * distinct calls, not of samples. New samples are collected first and added in batches, to keep the
 * sums in the cache.
 */
#pragma once

#include "base/containers/prefix_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NO_CPU UINT16_MAX

struct profile_sample {
    uint64_t time_ns;
    uint64_t weight; /* in the event's unit */
    uint32_t thread;
    uint32_t call;  /* PROFILE_NONE: no stack */
    uint32_t stack; /* valid after linking; determined by the call */
    uint16_t event; /* index in events */
    uint16_t cpu;   /* PROFILE_NO_CPU: not recorded */
    uint64_t count; /* number of samples added up; 0, when added: 1 */
};

struct sample_sum { /* key: the first two members */
    uint32_t call;
    uint32_t cpu;
    uint64_t weight, count;
};

struct sample_waiting { /* to be added to a sum */
    uint32_t call;
    uint32_t cpu;
    uint64_t weight, count;
};

struct sample_list {
    uint8_t *bytes; /* owned */
    size_t size, capacity;
    struct sample_sum *sums; /* owned */
    size_t sum_count, sum_capacity;
    struct sample_waiting *waiting; /* owned */
    size_t waiting_count, waiting_capacity;
    struct prefix_table sum_index;
    size_t count;                       /* of samples, added up or not */
    uint64_t weight;                    /* of all */
    uint64_t least_weight, most_weight; /* of a sample; of samples added up: their mean */
    struct profile_sample last;         /* packed */
    uint64_t first_ns, last_ns;         /* times of the first and last sample */
    bool is_disordered;                 /* some sample is older than its predecessor */
};

void sample_list_free(struct sample_list *list);

/* Adds a sample; thread, event and stack are not stored. 0 or -ENOMEM. */
int sample_list_add(struct sample_list *list, const struct profile_sample *sample);

/* Adds a sample to the sums, without its time. A list uses either this function or
 * sample_list_add(). 0 or -ENOMEM. */
int sample_list_sum(struct sample_list *list, const struct profile_sample *sample);

/* Call after the last sample. 0 or -ENOMEM. */
int sample_list_finish_sums(struct sample_list *list);

/* Into the order of time; equal times stay as they were added, and so do sums. 0 or -ENOMEM. */
int sample_list_sort(struct sample_list *list);

struct sample_reader {
    const uint8_t *at, *end;
    const struct sample_sum *sum, *sum_end;
    struct profile_sample sample; /* the last sample read */
};

/* Starts reading; the samples get this thread and event. Borrows the list, which must not grow
 * while in use. */
struct sample_reader sample_list_read(const struct sample_list *list, uint32_t thread,
                                      uint16_t event);

/* Reads the next sample into reader->sample; false at the end. The caller fills in the stack. */
bool sample_reader_next(struct sample_reader *reader);
