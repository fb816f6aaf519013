/* SPDX-License-Identifier: MIT */
/*
 * The samples of one thread, packed: a recording has millions, and most of what one says is what the one
 * before said, too. Eight to ten bytes are usual, in place of the 32 of a struct profile_sample.
 *
 *     flags │ time since the one before │ call │ weight, if another one │ event and CPU, if others
 *
 * They are read from the first to the last. Readers are copied to come back to a place.
 */
#pragma once

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
};

struct sample_list {
    uint8_t *bytes; /* owned */
    size_t size, capacity, count;
    struct profile_sample last;
    uint64_t first_ns;  /* time of the first one */
    bool is_disordered; /* some sample is older than the one before it */
};

void sample_list_free(struct sample_list *list);

/* 0 or -ENOMEM. The sample's thread and stack are not kept. */
int sample_list_add(struct sample_list *list, const struct profile_sample *sample);

/* Into the order of time; equal times stay as they were added. 0 or -ENOMEM. */
int sample_list_sort(struct sample_list *list);

struct sample_reader {
    const uint8_t *at, *end;
    struct profile_sample sample; /* the one read last */
};

/* thread: what the samples' is. Borrows the list, which must not grow meanwhile. */
struct sample_reader sample_list_read(const struct sample_list *list, uint32_t thread);

/* The next one into reader->sample; false at the end. Its stack is the caller's to fill in. */
bool sample_reader_next(struct sample_reader *reader);
